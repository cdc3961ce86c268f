import { assertEquals, assertThrows } from "@std/assert";
import { SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";
import {
  claimedSequence,
  findEventIssues,
  findEventWarnings,
  parseEventPayload,
  validateEvent,
  type ValidateEventOptions,
} from "./event.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import type { SigEvent } from "./types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { day, encode, revoke, upsert } from "../../tests/kit/events.ts";

/** Returns the faults of an event as `pointer code`. */
function faults(value: unknown, options?: ValidateEventOptions): string[] {
  return findEventIssues(value, options).map(({ pointer, code }) =>
    `${pointer} ${code}`
  );
}

Deno.test("all faults are reported together, in the order of the tables", () => {
  const event = {
    ...upsert(1),
    event_id: 1,
    sequence: 0,
    roles: null,
    display: { title: 1 },
  };
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

/**
 * Faults whose pointer or value is not in the vectors (`vectors/feed`), which
 * have the rules of every member.
 */
const FAULTS: readonly (readonly [SigEvent, object, string])[] = [
  ...[NaN, -0, 2 ** 53, 1n, [1]].map((sequence) =>
    [upsert(1), { sequence }, "/sequence invalid_field"] as const
  ),
  [upsert(1), { event_id: "\u0085" }, "/event_id invalid_field"],
  [upsert(1), { event_type: "toString" }, "/event_type unknown_event_type"],
  [upsert(1), { event_type: null }, "/event_type invalid_field"],
  [upsert(1), { visibility: null }, "/visibility invalid_field"],
  [upsert(1), { status: "Active" }, "/status status_not_active"],
  [upsert(1), { status: null }, "/status invalid_field"],
  [upsert(1), { roles: Array(1) }, "/roles invalid_field"],
  [upsert(1), { reason: false }, "/reason invalid_field"],
  [upsert(1), { metadata: [] }, "/metadata invalid_field"],
  [
    upsert(1),
    { relationship_type: "__proto__" },
    "/relationship_type invalid_field",
  ],
  ...["title", "department", "label"].map((name) =>
    [
      upsert(1),
      { display: { [name]: 1 } },
      `/display/${name} invalid_field`,
    ] as const
  ),
  [
    upsert(1),
    {
      valid_from: day(1, "T00:00:00.1Z"),
      valid_until: day(1, "T00:00:00.10Z"),
    },
    "/valid_until invalid_field",
  ],
  [revoke(1), { effective_at: null }, "/effective_at invalid_field"],
  [revoke(1), { reason_code: [] }, "/reason_code invalid_field"],
  [
    revoke(1),
    { revokes_relationship_id: "R1" },
    "/revokes_relationship_id revoke_target_mismatch",
  ],
  [
    revoke(1),
    { revokes_relationship_id: null },
    "/revokes_relationship_id invalid_field",
  ],
];

Deno.test("a fault has its code and the pointer of its member", () => {
  for (const [event, change, expected] of FAULTS) {
    assertEquals(faults({ ...event, ...change }), [expected]);
  }
});

Deno.test("optional members may be null, and others are ignored", () => {
  const odd = { future: 1, constructor: 1, toString: "x", ["__proto__"]: 1 };
  for (const absent of [null, undefined]) {
    const none = { reason: absent, metadata: absent, display: absent };
    assertEquals(faults({ ...upsert(1), ...none, ...odd }), []);
  }
  const display = { title: null, icon: 1, nested: { title: 1 } };
  assertEquals(faults({ ...upsert(1), display, roles: ["a", "a", ""] }), []);
});

Deno.test("an unknown event_type is accepted on request, an invalid one never", () => {
  const suspend = { ...upsert(1), event_type: "relationship.suspend" };
  const options = { unknownEvents: "ignore" } as const;
  assertEquals(faults({ ...suspend, roles: 1, status: "odd" }, options), []);
  assertEquals(
    faults({ ...suspend, subject: "" }, options),
    ["/subject invalid_field"],
  );
  assertEquals(
    faults({ ...suspend, event_type: null }, options),
    ["/event_type invalid_field"],
  );
});

Deno.test("an inherited member counts as absent", () => {
  const [version, ...others] = faults(Object.create(upsert(1)));
  assertEquals(version, "/spec_version missing_field");
  assertEquals(others.length, 8);
});

Deno.test("under another spec_version no other member is validated", () => {
  assertEquals(faults({ spec_version: "sig/9" }), [
    "/spec_version unsupported_spec_version",
  ]);
});

Deno.test("rejects anything but an object with invalid_envelope", () => {
  for (const value of [null, undefined, 1, "x", [], [upsert(1)]]) {
    assertSigError(
      () => validateEvent(value),
      "invalid_envelope",
      "Cannot accept event: the payload must be one JSON object",
    );
  }
});

Deno.test("returns a valid event unchanged", () => {
  const event = upsert(1);
  assertEquals(validateEvent(event) === event, true);
  assertThrows(() => validateEvent({}), SigError, "and 8 more");
});

Deno.test("a value beyond a writer's limit is a warning for readers", () => {
  const warned = (event: SigEvent) =>
    findEventWarnings(event, DEFAULT_LIMITS).map(({ pointer, code }) =>
      `${pointer} ${code as ErrorCode | string}`
    );
  const table: readonly (readonly [
    string,
    number,
    (size: number) => SigEvent,
  ])[] = [
    ["/event_id", 512, (n) => upsert(1, { event_id: "x".repeat(n) })],
    ["/issuer", 512, (n) => upsert(1, { issuer: "x".repeat(n) })],
    [
      "/relationship_id",
      512,
      (n) => revoke(1, { relationship_id: "x".repeat(n) }),
    ],
    ["/subject", 512, (n) => upsert(1, { subject: "did:x:".padEnd(n, "x") })],
    ["/reason", 2_000, (n) => revoke(1, { reason: "x".repeat(n) })],
    // `{"a":""}` has 8 bytes.
    [
      "/metadata",
      16_384,
      (n) => upsert(1, { metadata: { a: "x".repeat(n - 8) } }),
    ],
    ["/roles", 64, (n) => upsert(1, { roles: Array(n).fill("x") })],
    ["/roles", 128, (n) => upsert(1, { roles: ["x".repeat(n)] })],
  ];
  for (const [pointer, limit, event] of table) {
    assertEquals(warned(event(limit)), [], pointer);
    assertEquals(warned(event(limit + 1)), [`${pointer} field_over_limit`]);
  }
});

Deno.test("a subject that is not a DID is a warning", () => {
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

/** Returns a valid upsert with this spelling of its sequence. */
function spelled(sequence: string): Uint8Array {
  return encode(
    JSON.stringify(upsert(1)).replace('"sequence":1', `"sequence":${sequence}`),
  );
}

Deno.test("accepts a sequence in digits only", () => {
  for (const digits of ["1", "9007199254740991"]) {
    assertEquals(parseEventPayload(spelled(digits)).sequence, Number(digits));
  }
  for (const other of ["1.0", "1e0", "1E0", "10e-1", "1.5", "-1", "-0", "0"]) {
    const error = catchSigError(() => parseEventPayload(spelled(other)));
    assertEquals(error.code, "invalid_field", other);
    assertEquals(error.context.pointer, "/sequence", other);
  }
  assertSigError(
    () => parseEventPayload(spelled("1.0")),
    "invalid_field",
    "Cannot accept event: /sequence must be written in digits only",
  );
  // Reported once, although both value and spelling are wrong.
  assertSigError(
    () => parseEventPayload(spelled("-1")),
    "invalid_field",
    "Cannot accept event: /sequence must be an integer from 1 to 2^53-1, written in digits only",
  );
  const escaped = JSON.stringify(upsert(1))
    .replace('"sequence":1', '"\\u0073equence":1.0');
  assertEquals(
    catchSigError(() => parseEventPayload(encode(escaped))).code,
    "invalid_field",
  );
});

Deno.test("a faulty number is invalid_field with its pointer", () => {
  const text = '{"metadata":{"a":[0,1e999]}}';
  const error = assertSigError(
    () => parseEventPayload(encode(text)),
    "invalid_field",
    'Cannot read payload: "/metadata/a/1": a number is too large',
  );
  assertEquals(error.context.pointer, "/metadata/a/1");
});

Deno.test("names from a payload are escaped", () => {
  assertSigError(
    () => parseEventPayload(encode('{"\\u001b[2J\\n":1e999}')),
    "invalid_field",
    'Cannot read payload: "/\\u001b[2J\\n": a number is too large',
  );
});

Deno.test("reads the claimed sequence of invalid payloads where possible", () => {
  const table: readonly (readonly [string, number | undefined])[] = [
    ['{"sequence":7}', 7],
    ['{"sequence":7,"sequence":8}', 8],
    ['{"sequence":"7"}', undefined],
    ['{"sequence":0}', undefined],
    ['{"sequence":9007199254740993}', undefined],
    ['{"__proto__":{"sequence":7}}', undefined],
    ["[7]", undefined],
    ["{", undefined],
    ["", undefined],
  ];
  for (const [text, expected] of table) {
    assertEquals(claimedSequence(encode(text)), expected, text);
  }
});
