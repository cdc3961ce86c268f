import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { createFeedLineParser, parseFeedLine } from "./line.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode } from "../../tests/kit/events.ts";
import { b64, HEADER, line, respell, withHeader } from "../testdata/lines.ts";

Deno.test("parses a valid line into header and bytes", () => {
  const parsed = parseFeedLine(line({ payload: b64('{"a":1}') }));
  assertEquals(parsed.header, {
    alg: "EdDSA",
    kid: "k1",
    typ: "sig-event+jws",
  });
  assertEquals(new TextDecoder().decode(parsed.payload), '{"a":1}');
  assertEquals(parsed.signature, new Uint8Array(64));
  assertEquals(
    new TextDecoder().decode(parsed.signingInput),
    `${b64(HEADER)}.${b64('{"a":1}')}`,
  );
});

Deno.test("a line may have exactly the maximum size, and no byte more", () => {
  const fill = (bytes: number) => line() + " ".repeat(bytes - line().length);
  assertEquals(parseFeedLine(fill(65_536)).header.kid, "k1");
  const error = assertSigError(
    () => parseFeedLine(fill(65_537)),
    "line_too_long",
    "Cannot read feed line: it is longer than 65536 bytes",
  );
  assertEquals(error.context.limit, 65_536);
  const limits = { ...DEFAULT_LIMITS, maxLineBytes: line().length };
  assertEquals(parseFeedLine(line(), { limits }).header.kid, "k1");
});

Deno.test("the size is counted in bytes, not characters", () => {
  const text = `{"x":"${"é".repeat(40_000)}"}`;
  assert(text.length < 65_536);
  assertEquals(catchSigError(() => parseFeedLine(text)).code, "line_too_long");
});

Deno.test("a parser caches distinct headers without confusing them", () => {
  const parse = createFeedLineParser();
  const first = parse(encode(line()));
  assertStrictEquals(parse(encode(line({ payload: "" }))).header, first.header);
  for (let i = 0; i < 300; i++) {
    const kid = `k${i}`;
    assertEquals(parse(encode(withHeader({ ...HEADER, kid }))).header.kid, kid);
  }
  const none = encode(withHeader({ ...HEADER, alg: "none" }));
  for (let i = 0; i < 2; i++) {
    assertEquals(
      catchSigError(() => parse(none)).code,
      "algorithm_not_allowed",
    );
  }
});

Deno.test("parses lines of any length, also around the size of its buffers", () => {
  const head = b64(HEADER).length;
  for (const size of [4_096, 8_192, 2 * 8_194]) {
    for (let more = -6; more <= 6; more++) {
      const length = size - head + more;
      if (length % 4 === 1) continue;
      const text = line({ payload: "A".repeat(length), signature: "" });
      for (const spelled of [text, respell(text)]) {
        const parse = createFeedLineParser();
        parse(encode(line()));
        const { payload, signingInput, signature } = parse(encode(spelled));
        assertEquals(payload.length, (length * 3) >> 2);
        assertEquals(signingInput.length, head + 1 + length);
        assertEquals(signature.length, 0);
      }
    }
  }
});

Deno.test("a long line leaves no bytes in a following short line", () => {
  const parse = createFeedLineParser();
  parse(encode(line({ payload: b64("x".repeat(3_000)) })));
  const { payload, signature } = parse(
    encode(line({ payload: b64("{}"), signature: "AQI" })),
  );
  assertEquals(new TextDecoder().decode(payload), "{}");
  assertEquals(signature, new Uint8Array([1, 2]));
});
