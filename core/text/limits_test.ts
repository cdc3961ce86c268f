import { assert, assertEquals } from "@std/assert";
import { DEFAULT_LIMITS } from "./limits.ts";

Deno.test("the default limits are those of docs/protocol.md §8", () => {
  assert(Object.isFrozen(DEFAULT_LIMITS));
  assertEquals(DEFAULT_LIMITS, {
    maxLineBytes: 65_536,
    maxFeedBytes: 1_073_741_824,
    maxEvents: 5_000_000,
    maxMetadataBytes: 65_536,
    maxJwksBytes: 262_144,
    maxJwksKeys: 256,
    maxDidDocumentBytes: 65_536,
    maxJsonDepth: 16,
    maxIdentifierLength: 512,
    maxRoles: 64,
    maxRoleLength: 128,
    maxReasonLength: 2_000,
    maxEventMetadataBytes: 16_384,
    clockSkewSeconds: 60,
  });
});
