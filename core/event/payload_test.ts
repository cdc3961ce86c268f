import { assertEquals } from "@std/assert";
import { claimedSequence, parseEventPayload } from "./payload.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode, upsert } from "../../tests/kit/events.ts";

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
