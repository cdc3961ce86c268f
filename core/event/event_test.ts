import { assertEquals, assertThrows } from "@std/assert";
import { SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import {
  findEventWarnings,
  isRevoke,
  isSequence,
  isUpsert,
  validateEvent,
} from "./event.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import type { SigEvent } from "./types.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { changed, faults } from "../testdata/faulty_events.ts";

Deno.test("all faults are reported at once, in the order of the tables", () => {
  const event = changed(upsert(1), {
    event_id: 1,
    sequence: 0,
    roles: null,
    display: { title: 1 },
  });
  const error = assertSigError(
    () => validateEvent(event),
    "invalid_field",
    "Cannot accept event: /event_id must be a non-empty string without control characters (and 3 more)",
  );
  assertEquals(error.context.errors?.map(({ pointer }) => pointer), [
    "/event_id",
    "/sequence",
    "/roles",
    "/display/title",
  ]);
});

Deno.test("under another spec_version nothing else is judged", () => {
  assertEquals(faults({ spec_version: "sig/9" }), [
    "/spec_version unsupported_spec_version",
  ]);
});

Deno.test("anything but an object is invalid_envelope", () => {
  for (const value of [null, undefined, 1, "x", [], [upsert(1)]]) {
    assertSigError(
      () => validateEvent(value),
      "invalid_envelope",
      "Cannot accept event: the payload must be one JSON object",
    );
  }
});

Deno.test("a valid event is returned as it is", () => {
  const event = upsert(1);
  assertEquals(validateEvent(event) === event, true);
  assertThrows(() => validateEvent({}), SigError, "and 8 more");
});

Deno.test("a sequence is a safe integer from 1 on", () => {
  for (const value of [1, 2 ** 53 - 1]) assertEquals(isSequence(value), true);
  for (const value of [0, -0, 1.5, 2 ** 53, "1", null, 1n]) {
    assertEquals(isSequence(value), false, String(value));
  }
});

Deno.test("events are told apart by their type", () => {
  assertEquals([isUpsert(upsert(1)), isRevoke(upsert(1))], [true, false]);
  assertEquals([isUpsert(revoke(1)), isRevoke(revoke(1))], [false, true]);
});

Deno.test("limits bind writers; a reader is warned just beyond them", () => {
  const warned = (event: SigEvent) =>
    findEventWarnings(event, DEFAULT_LIMITS).map(({ pointer, code }) =>
      `${pointer} ${code as ErrorCode | string}`
    );
  const table: readonly (readonly [SigEvent, SigEvent, string])[] = [
    [
      upsert(1, { event_id: "x".repeat(512) }),
      upsert(1, { event_id: "x".repeat(513) }),
      "/event_id",
    ],
    [
      upsert(1, { issuer: "x".repeat(512) }),
      upsert(1, { issuer: "x".repeat(513) }),
      "/issuer",
    ],
    [
      revoke(1, { relationship_id: "x".repeat(512) }),
      revoke(1, { relationship_id: "x".repeat(513) }),
      "/relationship_id",
    ],
    [
      upsert(1, { subject: `did:web:${"x".repeat(504)}` }),
      upsert(1, { subject: `did:web:${"x".repeat(505)}` }),
      "/subject",
    ],
    [
      revoke(1, { reason: "x".repeat(2_000) }),
      revoke(1, { reason: "x".repeat(2_001) }),
      "/reason",
    ],
    [
      upsert(1, { metadata: { a: "x".repeat(16_384 - 8) } }),
      upsert(1, { metadata: { a: "x".repeat(16_384 - 7) } }),
      "/metadata",
    ],
    [
      upsert(1, { roles: Array(64).fill("x") }),
      upsert(1, { roles: Array(65).fill("x") }),
      "/roles",
    ],
    [
      upsert(1, { roles: ["x".repeat(128)] }),
      upsert(1, { roles: ["x".repeat(129)] }),
      "/roles",
    ],
  ];
  for (const [within, beyond, pointer] of table) {
    assertEquals(warned(within), [], pointer);
    assertEquals(warned(beyond), [`${pointer} field_over_limit`]);
  }
});

Deno.test("a subject that is not a DID is warned about", () => {
  const codes = (subject: string) =>
    findEventWarnings(upsert(1, { subject }), DEFAULT_LIMITS).map(({ code }) =>
      code
    );
  for (
    const did of ["did:web:a", "did:key:z6Mk", "did:x:a:b", "did:web:a%3A1"]
  ) assertEquals(codes(did), [], did);
  for (
    const other of ["alice", "did:", "did:web:", "DID:web:a", "did:web:a#k"]
  ) assertEquals(codes(other), ["subject_not_did"], other);
});
