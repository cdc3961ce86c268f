import { assert, assertEquals } from "@std/assert";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { ErrorCode } from "../errors/error_codes.ts";
import { isSigError } from "../errors/error.ts";
import { createFeedLineParser, parseFeedLine } from "./line.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { encode } from "../../tests/kit/events.ts";
import { b64, HEADER, line, respell, withHeader } from "../testdata/lines.ts";

type Fault = readonly [string | Uint8Array, ErrorCode];

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

const FAULTS: Readonly<Record<string, readonly Fault[]>> = {
  "a line is exactly one JSON object": [
    ["", "invalid_line"],
    ["   ", "invalid_line"],
    [`${line()}\r`, "invalid_line"],
    [`{\r${members}}`, "invalid_line"],
    [`\ufeff${line()}`, "invalid_line"],
    [`${line()}x`, "invalid_line"],
    [`${line()}${line()}`, "invalid_line"],
    [`${line()},`, "invalid_line"],
    [`[${line()}]`, "invalid_line"],
    [line().slice(0, -1), "invalid_line"],
    [`{${members},}`, "invalid_line"],
    [`\u00a0${line()}`, "invalid_line"],
    [`\u2028${line()}`, "invalid_line"],
    ["null", "invalid_line"],
    ['"x"', "invalid_line"],
    ["1", "invalid_line"],
    ["1e999", "invalid_line"],
    ['["\\ud800"]', "invalid_line"],
    [`{${members},"x":${"[".repeat(16)}${"]".repeat(16)}}`, "invalid_line"],
    [bytesWith(0xff), "invalid_line"],
  ],
  "an envelope has exactly three members, which are strings": [
    ["{}", "invalid_envelope"],
    [`{${members},"header":{}}`, "invalid_envelope"],
    [`{${members},"__proto__":{}}`, "invalid_envelope"],
    [`{${members},"x":"\\ud800"}`, "invalid_envelope"],
    [line({ payload: undefined }), "invalid_envelope"],
    [line({ payload: undefined, toString: "x" }), "invalid_envelope"],
    [line({ signature: null }), "invalid_envelope"],
    [line({ signature: 1 }), "invalid_envelope"],
    [
      `{${members.replace(/"signature":".*?"/, '"signature":1e999')}}`,
      "invalid_envelope",
    ],
    [line({ protected: [b64(HEADER)] }), "invalid_envelope"],
    [line({ payload: {} }), "invalid_envelope"],
    [line({ x: 1 }), "invalid_envelope"],
  ],
  "no member stands twice": [
    [`{${members},${quoted("payload", '"e30"')}}`, "duplicate_json_member"],
    [`{${members},${quoted("p\\u0061yload", '""')}}`, "duplicate_json_member"],
    [`{${members},"x":{"a":1,"a":1}}`, "duplicate_json_member"],
    [withHeader('{"alg":"none","alg":"EdDSA"}'), "duplicate_json_member"],
    [
      withHeader(
        '{"alg":"EdDSA","kid":"k1","typ":"sig-event+jws","k\\u0069d":"k1"}',
      ),
      "duplicate_json_member",
    ],
  ],
  "members are canonical base64url": [
    [line({ payload: "e30=" }), "invalid_base64url"],
    [line({ payload: "e3" }), "invalid_base64url"],
    [line({ payload: "e 30" }), "invalid_base64url"],
    [line({ payload: "e30\n" }), "invalid_base64url"],
    [line({ signature: "+/+/" }), "invalid_base64url"],
    [line({ protected: `${b64(HEADER)}=` }), "invalid_base64url"],
    [line({ protected: "A" }), "invalid_base64url"],
  ],
  "a header is one strict JSON object": [
    [line({ protected: "" }), "invalid_header"],
    [withHeader([]), "invalid_header"],
    [withHeader("null"), "invalid_header"],
    [withHeader(`\ufeff${JSON.stringify(HEADER)}`), "invalid_header"],
    [withHeader(`${JSON.stringify(HEADER)} x`), "invalid_header"],
    [withHeader('{"alg":1e999}'), "invalid_header"],
    [withHeader(`{"x":${"[".repeat(16)}${"]".repeat(16)}}`), "invalid_header"],
    [
      line({ protected: encodeBase64Url(new Uint8Array([0x7b, 0xff, 0x7d])) }),
      "invalid_header",
    ],
  ],
  "crit and b64 are refused": [
    [
      withHeader({ ...HEADER, crit: ["b64"], b64: false }),
      "crit_not_supported",
    ],
    [withHeader({ ...HEADER, crit: [] }), "crit_not_supported"],
    [withHeader({ ...HEADER, crit: null }), "crit_not_supported"],
    [withHeader({ ...HEADER, b64: true }), "crit_not_supported"],
  ],
  "alg is EdDSA": [
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
      .map((
        alg,
      ): Fault => [withHeader({ ...HEADER, alg }), "algorithm_not_allowed"]),
    [withHeader({ kid: "k1", typ: HEADER.typ }), "algorithm_not_allowed"],
    [
      withHeader(
        '{"__proto__":{"alg":"EdDSA"},"kid":"k1","typ":"sig-event+jws"}',
      ),
      "algorithm_not_allowed",
    ],
  ],
  "typ is the event's": [
    ...[
      "JWT",
      "sig-attestation+jwt",
      "SIG-EVENT+JWS",
      "application/sig-event+jws",
      "",
      null,
      1,
    ]
      .map((typ): Fault => [withHeader({ ...HEADER, typ }), "typ_mismatch"]),
    [withHeader({ alg: "EdDSA", kid: "k1" }), "typ_mismatch"],
  ],
  "kid is a key identifier": [
    ...["", null, 1, ["k1"], {}, "a\nb", "\u001b[2J", "x".repeat(257)]
      .map((kid): Fault => [withHeader({ ...HEADER, kid }), "invalid_header"]),
    [withHeader({ alg: "EdDSA", typ: HEADER.typ }), "invalid_header"],
  ],
  "a header has no other member": [
    ...["jku", "jwk", "x5u", "x5c", "cty", "__proto__", "ALG", "x"].map((
      name,
    ): Fault => [
      withHeader(`${JSON.stringify(HEADER).slice(0, -1)},"${name}":{}}`),
      "invalid_header",
    ]),
  ],
};

for (const [rule, faults] of Object.entries(FAULTS)) {
  Deno.test(`line: ${rule}`, () => {
    for (const [text, code] of faults) {
      const bytes = typeof text === "string" ? encode(text) : text;
      const error = catchSigError(() => parseFeedLine(bytes));
      assertEquals(error.code, code, `${Deno.inspect(text)}: ${error.message}`);
      assert(error.message.startsWith("Cannot read feed line: "));
    }
  });
}

/**
 * The rules in their order (docs/protocol.md §2). Each breaks a line so that all later
 * rules can be broken in it as well.
 */
const long = " ".repeat(65_537);
const bad = (changes: Record<string, unknown>) => line(changes);
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
    "one object before doubled members in it",
    encode(`{"payload":1,"payload":2`),
    "invalid_line",
  ],
  [
    "doubled members before wrong members",
    encode('{"x":1,"x":2}'),
    "duplicate_json_member",
  ],
  [
    "members before base64url",
    encode(bad({ x: 1, payload: "=" })),
    "invalid_envelope",
  ],
  [
    "base64url of the payload before the header",
    encode(bad({ protected: b64("x"), payload: "=" })),
    "invalid_base64url",
  ],
  [
    "base64url of the signature before the header",
    encode(bad({ protected: b64({ crit: [] }), signature: "=" })),
    "invalid_base64url",
  ],
  [
    "header's JSON before crit",
    encode(withHeader('{"crit":[],"b64":false')),
    "invalid_header",
  ],
  [
    "crit before alg",
    encode(withHeader({ ...HEADER, crit: [], alg: "none" })),
    "crit_not_supported",
  ],
  [
    "alg before typ",
    encode(withHeader({ ...HEADER, alg: "none", typ: "JWT" })),
    "algorithm_not_allowed",
  ],
  [
    "typ before kid",
    encode(withHeader({ ...HEADER, typ: "JWT", kid: 1 })),
    "typ_mismatch",
  ],
  [
    "typ before other members",
    encode(withHeader({ ...HEADER, typ: "JWT", jwk: {} })),
    "typ_mismatch",
  ],
];

for (const [order, bytes, code] of IN_ORDER) {
  Deno.test(`order on a line: ${order}`, () => {
    assertEquals(catchSigError(() => parseFeedLine(bytes)).code, code);
  });
}

Deno.test("hints name what is likely meant", () => {
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
});

Deno.test("an unexpected member's name is shown escaped", () => {
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

Deno.test("the usual spelling is read as any other spelling is", () => {
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
  for (const faults of Object.values(FAULTS)) {
    for (const [text] of faults) {
      if (typeof text === "string") texts.push(text);
    }
  }
  for (const text of texts) {
    const expected = outcome(parseFeedLine, text) as unknown[];
    assertEquals(outcome(parse, text), expected, text);
    assertEquals(outcome(parse, text), expected, text);
    if (respell(text) === text) continue;
    const respelled = outcome(parse, respell(text)) as unknown[];
    // A syntax error names its place, which is one character further on.
    const isPlaced = expected[0] === "invalid_line";
    const judged = (found: unknown[]) => isPlaced ? found.slice(0, 1) : found;
    assertEquals(judged(respelled), judged(expected), text);
  }
});
