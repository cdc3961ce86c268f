import { assertEquals } from "@std/assert";
import { claimedSequence, parseEventPayload } from "./payload.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode, revoke, upsert } from "../../tests/kit/events.ts";

/** Returns a valid upsert with this spelling of its sequence. */
function spelled(sequence: string): Uint8Array {
  return encode(
    JSON.stringify(upsert(1)).replace('"sequence":1', `"sequence":${sequence}`),
  );
}

Deno.test("parses an event with unknown members", () => {
  for (const event of [upsert(1), revoke(2), { ...upsert(1), future: [1.0] }]) {
    assertEquals(parseEventPayload(encode(event)), event);
    const pretty = JSON.stringify(event, null, 2);
    assertEquals(parseEventPayload(encode(pretty)), event);
  }
});

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

Deno.test("accepts any spelling of other numbers", () => {
  const text = JSON.stringify(upsert(1)).replace(
    /}$/,
    ',"metadata":{"a":1.0,"sequence":1e0},"x":-0}',
  );
  assertEquals(parseEventPayload(encode(text)).sequence, 1);
});

Deno.test("rejects a payload that is not one strict JSON object with invalid_envelope", () => {
  const payloads = [
    "",
    "null",
    "[]",
    '"x"',
    "1e999",
    "[1e999]",
    "{",
    `\ufeff${JSON.stringify(upsert(1))}`,
    `${JSON.stringify(upsert(1))}x`,
    '{"a":"\\ud800"}',
    `{"a":${"[".repeat(16)}${"]".repeat(16)}}`,
  ].map(encode);
  payloads.push(Uint8Array.of(0x7b, 0xff, 0x7d));
  for (const payload of payloads) {
    const { code } = catchSigError(() => parseEventPayload(payload));
    assertEquals(code, "invalid_envelope", new TextDecoder().decode(payload));
  }
});

Deno.test("rejects a duplicate member at any depth before it validates members", () => {
  for (
    const text of [
      '{"sequence":1,"sequence":1}',
      '{"a":[{"b":1,"\\u0062":2}]}',
    ]
  ) {
    assertEquals(
      catchSigError(() => parseEventPayload(encode(text))).code,
      "duplicate_json_member",
    );
  }
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

Deno.test("options apply to the validation", () => {
  const secret = encode(upsert(1, { visibility: "private" }));
  assertSigError(
    () => parseEventPayload(secret, { publicOnly: true }),
    "private_event_in_public_feed",
    "Cannot accept event: /visibility must be public in a feed that is public_only",
  );
  const unknown = encode({ ...upsert(1), event_type: "x" });
  assertEquals(
    parseEventPayload(unknown, { unknownEvents: "ignore" }).event_type,
    "x",
  );
  assertSigError(
    () => parseEventPayload(unknown),
    "unknown_event_type",
    "Cannot accept event: /event_type must be relationship.upsert or relationship.revoke",
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
