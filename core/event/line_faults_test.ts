import { assert, assertEquals } from "@std/assert";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { ErrorCode } from "../errors/error_codes.ts";
import { isSigError } from "../errors/error.ts";
import { createFeedLineParser, parseFeedLine } from "./line.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode } from "../../tests/kit/events.ts";
import { b64, HEADER, line, respell, withHeader } from "../testdata/lines.ts";

const quoted = (name: string, value: string) => `"${name}":${value}`;
const good = JSON.parse(line()) as Record<string, string>;
const members = Object.entries(good).map(([name, value]) =>
  quoted(name, JSON.stringify(value))
).join(",");
const bytesWith = (byte: number) => {
  const bytes = encode(line({ extra: "?" }));
  bytes[bytes.length - 3] = byte;
  return bytes;
};

/** For each rule, the error code and texts that violate it. */
const FAULTS: Readonly<
  Record<string, readonly [ErrorCode, readonly (string | Uint8Array)[]]>
> = {
  "a line is exactly one JSON object": ["invalid_line", [
    "",
    "   ",
    `${line()}\r`,
    `{\r${members}}`,
    `\ufeff${line()}`,
    `${line()}x`,
    `${line()}${line()}`,
    `${line()},`,
    `[${line()}]`,
    line().slice(0, -1),
    `{${members},}`,
    `\u00a0${line()}`,
    `\u2028${line()}`,
    "null",
    '"x"',
    "1",
    "1e999",
    '["\\ud800"]',
    `{${members},"x":${"[".repeat(16)}${"]".repeat(16)}}`,
    bytesWith(0xff),
  ]],
  "an envelope has exactly three members, which are strings": [
    "invalid_envelope",
    [
      "{}",
      `{${members},"header":{}}`,
      `{${members},"__proto__":{}}`,
      `{${members},"x":"\\ud800"}`,
      line({ payload: undefined }),
      line({ payload: undefined, toString: "x" }),
      line({ signature: null }),
      line({ signature: 1 }),
      `{${members.replace(/"signature":".*?"/, '"signature":1e999')}}`,
      line({ protected: [b64(HEADER)] }),
      line({ payload: {} }),
      line({ x: 1 }),
    ],
  ],
  "duplicate members are rejected": ["duplicate_json_member", [
    `{${members},${quoted("payload", '"e30"')}}`,
    `{${members},${quoted("p\\u0061yload", '""')}}`,
    `{${members},"x":{"a":1,"a":1}}`,
    withHeader('{"alg":"none","alg":"EdDSA"}'),
    withHeader(
      '{"alg":"EdDSA","kid":"k1","typ":"sig-event+jws","k\\u0069d":"k1"}',
    ),
  ]],
  "members are canonical base64url": ["invalid_base64url", [
    line({ payload: "e30=" }),
    line({ payload: "e3" }),
    line({ payload: "e 30" }),
    line({ payload: "e30\n" }),
    line({ signature: "+/+/" }),
    line({ protected: `${b64(HEADER)}=` }),
    line({ protected: "A" }),
  ]],
  "a header is one strict JSON object": ["invalid_header", [
    line({ protected: "" }),
    withHeader([]),
    withHeader("null"),
    withHeader(`\ufeff${JSON.stringify(HEADER)}`),
    withHeader(`${JSON.stringify(HEADER)} x`),
    withHeader('{"alg":1e999}'),
    withHeader(`{"x":${"[".repeat(16)}${"]".repeat(16)}}`),
    line({ protected: encodeBase64Url(new Uint8Array([0x7b, 0xff, 0x7d])) }),
  ]],
  "crit and b64 are rejected": ["crit_not_supported", [
    withHeader({ ...HEADER, crit: ["b64"], b64: false }),
    withHeader({ ...HEADER, crit: [] }),
    withHeader({ ...HEADER, crit: null }),
    withHeader({ ...HEADER, b64: true }),
  ]],
  "alg is EdDSA": ["algorithm_not_allowed", [
    ...[
      "none",
      "None",
      "HS256",
      "ES256",
      "eddsa",
      "Ed25519",
      "EdDSA ",
      "",
      null,
      1,
      ["EdDSA"],
      {},
    ]
      .map((alg) => withHeader({ ...HEADER, alg })),
    withHeader({ kid: "k1", typ: HEADER.typ }),
    withHeader(
      '{"__proto__":{"alg":"EdDSA"},"kid":"k1","typ":"sig-event+jws"}',
    ),
  ]],
  "typ is the type of events": ["typ_mismatch", [
    ...[
      "JWT",
      "sig-attestation+jwt",
      "SIG-EVENT+JWS",
      "application/sig-event+jws",
      "",
      null,
      1,
    ]
      .map((typ) => withHeader({ ...HEADER, typ })),
    withHeader({ alg: "EdDSA", kid: "k1" }),
  ]],
  "kid is a key identifier": ["invalid_header", [
    ...["", null, 1, ["k1"], {}, "a\nb", "\u001b[2J", "x".repeat(257)]
      .map((kid) => withHeader({ ...HEADER, kid })),
    withHeader({ alg: "EdDSA", typ: HEADER.typ }),
  ]],
  "a header has no other members": ["invalid_header", [
    ...["jku", "jwk", "x5u", "x5c", "cty", "__proto__", "ALG", "x"].map((
      name,
    ) => withHeader(`${JSON.stringify(HEADER).slice(0, -1)},"${name}":{}}`)),
  ]],
};

for (const [rule, [code, texts]] of Object.entries(FAULTS)) {
  Deno.test(`line: ${rule}`, () => {
    for (const text of texts) {
      const bytes = typeof text === "string" ? encode(text) : text;
      const error = catchSigError(() => parseFeedLine(bytes));
      assertEquals(error.code, code, `${Deno.inspect(text)}: ${error.message}`);
      assert(error.message.startsWith("Cannot read feed line: "));
    }
  });
}

/**
 * The rules in their order (docs/protocol.md §2). Each text violates a rule in
 * a way that leaves room to violate all later ones.
 */
const long = " ".repeat(65_537);
const IN_ORDER: readonly (readonly [string, Uint8Array, ErrorCode])[] = [
  [
    "size before UTF-8",
    Uint8Array.of(...encode(long), 0xff),
    "line_too_long",
  ],
  ["UTF-8 before JSON", Uint8Array.of(0x7b, 0xff), "invalid_line"],
  [
    "JSON before members",
    encode(`{"x":1`),
    "invalid_line",
  ],
  [
    "one object before duplicate members",
    encode(`{"payload":1,"payload":2`),
    "invalid_line",
  ],
  [
    "duplicate members before invalid members",
    encode('{"x":1,"x":2}'),
    "duplicate_json_member",
  ],
  [
    "base64url of the signature before the header",
    encode(line({ protected: b64({ crit: [] }), signature: "=" })),
    "invalid_base64url",
  ],
  [
    "header's JSON before crit",
    encode(withHeader('{"crit":[],"b64":false')),
    "invalid_header",
  ],
  [
    "typ before other members",
    encode(withHeader({ ...HEADER, typ: "JWT", jwk: {} })),
    "typ_mismatch",
  ],
];

for (const [order, bytes, code] of IN_ORDER) {
  Deno.test(`order of checks: ${order}`, () => {
    assertEquals(catchSigError(() => parseFeedLine(bytes)).code, code);
  });
}

Deno.test("hints name the likely mistake, and messages escape names", () => {
  const ed25519 = assertSigError(
    () => parseFeedLine(withHeader({ ...HEADER, alg: "Ed25519" })),
    "algorithm_not_allowed",
    "Cannot read feed line: alg must be EdDSA",
  );
  assertEquals(
    ed25519.context.hint,
    'SIG v0.1 names this algorithm "EdDSA".',
  );
  const header = assertSigError(
    () => parseFeedLine(`{${members},"header":{}}`),
    "invalid_envelope",
    'Cannot read feed line: it must have exactly protected, payload and signature, and has "header" too',
  );
  assertEquals(header.context.hint, "An unprotected header is not allowed.");
  assertSigError(
    () => parseFeedLine(`{${members},"\\u001b[31m":1}`),
    "invalid_envelope",
    'Cannot read feed line: it must have exactly protected, payload and signature, and has "\\u001b[31m" too',
  );
});

function outcome(
  parse: (line: Uint8Array) => ReturnType<typeof parseFeedLine>,
  text: string,
): unknown {
  try {
    const { header, signingInput, payload, signature } = parse(encode(text));
    return [header, signingInput, payload, signature].map((each) =>
      each instanceof Uint8Array ? each.slice() : each
    );
  } catch (error) {
    assert(isSigError(error), String(error));
    return [error.code, error.message];
  }
}

Deno.test("the usual spelling gives the same result as any other spelling", () => {
  const lengths = [0, 1, 2, 3, 4, 5, 63, 64, 65, 2_000];
  const parse = createFeedLineParser();
  const texts = lengths.flatMap((length) => {
    const bytes = encodeBase64Url(
      Uint8Array.from({ length }, (_, i) => i * 7),
    );
    return [
      line({ payload: bytes }),
      line({ signature: bytes }),
      line({ payload: bytes, signature: "" }),
      line({ payload: `${bytes}=` }),
      line({ signature: `${bytes}+` }),
      line({ protected: bytes }),
    ];
  });
  for (const [, faulty] of Object.values(FAULTS)) {
    texts.push(...faulty.filter((text) => typeof text === "string"));
  }
  for (const text of texts) {
    const expected = outcome(parseFeedLine, text) as unknown[];
    assertEquals(outcome(parse, text), expected, text);
    assertEquals(outcome(parse, text), expected, text);
    if (respell(text) === text) continue;
    const respelled = outcome(parse, respell(text)) as unknown[];
    // A syntax error contains a position, which is one character further on.
    const isPlaced = expected[0] === "invalid_line";
    const judged = (found: unknown[]) => isPlaced ? found.slice(0, 1) : found;
    assertEquals(judged(respelled), judged(expected), text);
  }
});
