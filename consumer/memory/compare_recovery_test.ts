/** What readers remember of statements, by independent vectors. @module */

import { isSigError } from "@sig/core";
import { importVerificationKey } from "@sig/jose/keys";
import { calculateKidOf } from "@sig/jose/internal";
import { openCheckpoint } from "@sig/jose/proofs";
import { endKeysOf, readRecovery } from "@sig/jose/recovery";
import { assertEquals } from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { signingKeys } from "../verify/load_issuer.ts";
import { fetchedKeys, findContradiction } from "./compare.ts";
import { introducedKeys, pinnedRecovery } from "./compare_recovery.ts";
import type { PinnedRecovery, RememberedPin, Thumbprints } from "./pin.ts";

// promise: A remembered recovery key can't be withdrawn or replaced; its next
//   statement introduces keys.

interface PinOfCase {
  readonly recovery?: PinnedRecovery | null;
  readonly keys: Thumbprints;
  readonly proof: boolean;
}

interface MemoryFile {
  readonly issuer: string;
  readonly cases: readonly {
    readonly name: string;
    readonly pin: PinOfCase;
    readonly next: {
      readonly recovery?: unknown;
      readonly keys: readonly { readonly kid: string; readonly x: string }[];
      readonly checkpoint: string | null;
    };
    readonly expected: {
      readonly result: string;
      readonly warnings: readonly string[];
      readonly pin?: PinOfCase;
    };
  }[];
}

/** Returns a pin that remembers these keys, of the same feed as is served. */
function pinOf(issuer: string, { recovery, keys, proof }: PinOfCase) {
  const pin: RememberedPin = {
    status: "remembered",
    issuer,
    first_seen: "",
    last_seen: "",
    feed: {
      ...{ sequence: 0, bytes: 0, prefix_sha256: "", last_event_id: null },
      ...{ keys: proof ? {} : keys, etag: null },
      ...{ compared_at: "", read_at: "" },
    },
    proof: proof
      ? {
        ...{ size: 0, root: "", state: "" },
        ...{ seen: { size: 0, root: null }, keys },
      }
      : null,
    recovery: recovery ?? null,
    key_added: [],
    inconsistency: null,
    acknowledged: [],
    rewrites: 0,
    rewritten_from: [],
  };
  return pin;
}

vectorTest(
  "a pin and the statements are compared as the vectors say",
  "recovery/memory.json",
  async (t) => {
    const { issuer, cases } = readJsonVectors<MemoryFile>(
      "recovery/memory.json",
    );
    for (const { name, pin: before, next, expected } of cases) {
      await t.step(name, async () => {
        const imported = await Promise.all(next.keys.map(async (key) =>
          [
            key.kid,
            await importVerificationKey({ kty: "OKP", crv: "Ed25519", ...key }),
          ] as const
        ));
        const keys = new Map(imported);
        const recovery = next.recovery === undefined || next.recovery === null
          ? undefined
          : await readRecovery(next.recovery, issuer);
        const plain = {
          keys,
          resolve: (kid: string) => keys.get(kid)!,
          endOf: () => undefined,
        };
        const resolver = recovery === undefined
          ? plain
          : endKeysOf(plain, recovery);
        const checkpoint = next.checkpoint === null
          ? undefined
          : await openCheckpoint(next.checkpoint, {
            origin: "acme.example/.well-known/sig",
            keys: signingKeys(resolver),
          }).catch((error) => {
            if (isSigError(error, "invalid_checkpoint")) return undefined;
            throw error;
          });
        const pin = pinOf(issuer, before);
        const shown = fetchedKeys({ keys: resolver, recovery });
        const error = findContradiction(pin, { keys: shown, checkpoint });
        assertEquals(error?.code ?? "accepted", expected.result);
        if (expected.pin === undefined) return;
        assertEquals(pinnedRecovery(recovery), expected.pin.recovery ?? null);
        assertEquals(
          Object.fromEntries(
            await Promise.all(
              imported.map(async ([kid, key]) =>
                [kid, await calculateKidOf(key)] as const
              ),
            ),
          ),
          expected.pin.keys,
        );
        const { known } = introducedKeys(pin, recovery);
        const isAdded = !before.proof && pin.recovery === null &&
          recovery !== undefined;
        const added = next.keys.filter(({ kid }) =>
          !before.proof && !known.has(kid)
        );
        assertEquals([
          ...isAdded ? ["recovery_added"] : [],
          ...added.length > 0 ? ["key_added"] : [],
        ], expected.warnings);
      });
    }
  },
);
