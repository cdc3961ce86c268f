import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import type { ErrorCode } from "../errors/error_codes.ts";
import { createFeedLineParser, parseFeedLine } from "./line.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode } from "../../tests/kit/events.ts";
import { b64, HEADER, line, withHeader } from "../testdata/lines.ts";

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
      const parse = createFeedLineParser();
      parse(encode(line()));
      const { payload, signingInput, signature } = parse(encode(text));
      assertEquals(payload.length, (length * 3) >> 2);
      assertEquals(signingInput.length, head + 1 + length);
      assertEquals(signature.length, 0);
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

const members = line().slice(1, -1);

/** Lines with the code, the reason and the context of their fault. */
const FAULTS: readonly (readonly [string, ErrorCode, string, object?])[] = [
  [`${line()}\r`, "invalid_line", "it holds a carriage return"],
  ["1e999", "invalid_line", "a number is too large"],
  ['["\\ud800"]', "invalid_line", "a string holds a lone surrogate"],
  ["[]", "invalid_line", "it must be one JSON object"],
  [
    `{${members},"x":1e999}`,
    "invalid_envelope",
    "a number is too large",
    { pointer: "/x" },
  ],
  [
    `{${members},"x":"\\ud800"}`,
    "invalid_envelope",
    "a string holds a lone surrogate",
    { pointer: "/x" },
  ],
  [
    `{${members},"p\\u0061yload":""}`,
    "duplicate_json_member",
    "a member occurs twice",
    { pointer: "/payload" },
  ],
  [
    line({ payload: undefined, toString: "x" }),
    "invalid_envelope",
    "member payload is missing",
    { pointer: "/payload" },
  ],
  [
    line({ signature: null }),
    "invalid_envelope",
    "member signature must be a string",
    { pointer: "/signature" },
  ],
  [
    `{${members},"header":{}}`,
    "invalid_envelope",
    'it must have exactly protected, payload and signature, and has "header" too',
    { hint: "An unprotected header is not allowed." },
  ],
  [
    `{${members},"\\u001b[31m":1}`,
    "invalid_envelope",
    'it must have exactly protected, payload and signature, and has "\\u001b[31m" too',
  ],
  ...(["protected", "payload", "signature"] as const).map((name) =>
    [
      line({ [name]: "e30=" }),
      "invalid_base64url",
      `${name} must be base64url without padding, white space or trailing bits`,
      { pointer: `/${name}` },
    ] as const
  ),
  [withHeader("1e999"), "invalid_header", "the header: a number is too large"],
  [withHeader([]), "invalid_header", "the header must be one JSON object"],
  [
    withHeader('{"alg":"none","alg":"EdDSA"}'),
    "duplicate_json_member",
    "the header: a member occurs twice",
  ],
  [
    withHeader({ ...HEADER, b64: true }),
    "crit_not_supported",
    "header member b64 is not allowed",
  ],
  [
    withHeader({ ...HEADER, alg: "Ed25519" }),
    "algorithm_not_allowed",
    "alg must be EdDSA",
    { hint: 'SIG v0.1 names this algorithm "EdDSA".' },
  ],
  [
    withHeader({ ...HEADER, alg: "none" }),
    "algorithm_not_allowed",
    "alg must be EdDSA",
  ],
  [
    withHeader({ ...HEADER, typ: "JWT" }),
    "typ_mismatch",
    "typ must be sig-event+jws",
  ],
  [
    withHeader({ ...HEADER, kid: "x".repeat(257) }),
    "invalid_header",
    "kid must be 1 to 256 characters without control characters",
  ],
  [
    withHeader({ ...HEADER, jwk: {} }),
    "invalid_header",
    "the header must have exactly alg, kid and typ",
    { kid: "k1" },
  ],
];

Deno.test("an error states code, reason, place and hint", () => {
  for (const [text, code, reason, context = {}] of FAULTS) {
    const error = assertSigError(
      () => parseFeedLine(text),
      code,
      `Cannot read feed line: ${reason}`,
    );
    assertEquals<unknown>(error.context, context, text);
  }
});

/** Each line violates a rule in a way that leaves room for all later ones. */
const IN_ORDER: readonly (readonly [string, string | number[], ErrorCode])[] = [
  [
    "size before UTF-8",
    [...encode(" ".repeat(65_537)), 0xff],
    "line_too_long",
  ],
  ["UTF-8 before JSON", [0x7b, 0xff], "invalid_line"],
  ["JSON before members", '{"x":1', "invalid_line"],
  [
    "one object before duplicate members",
    '{"payload":1,"payload":2',
    "invalid_line",
  ],
  [
    "duplicate members before invalid members",
    '{"x":1,"x":2}',
    "duplicate_json_member",
  ],
  [
    "base64url of the signature before the header",
    line({ protected: b64({ crit: [] }), signature: "=" }),
    "invalid_base64url",
  ],
  [
    "the header's JSON before crit",
    withHeader('{"crit":[],"b64":false'),
    "invalid_header",
  ],
  [
    "typ before other members",
    withHeader({ ...HEADER, typ: "JWT", jwk: {} }),
    "typ_mismatch",
  ],
];

for (const [order, text, code] of IN_ORDER) {
  Deno.test(`order of checks: ${order}`, () => {
    const bytes = typeof text === "string"
      ? encode(text)
      : new Uint8Array(text);
    assertEquals(catchSigError(() => parseFeedLine(bytes)).code, code);
  });
}
