import { assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { MAX_ATTESTATION_LENGTH, parseAttestation } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { testKey } from "../testdata/keys.ts";
import { claimsOf, headerOf, kidOf, tokenOf } from "../testdata/tokens.ts";

const key = await testKey("subject");
const header = headerOf(key);
const claims = claimsOf(key);
const good = await tokenOf(key, header, claims);
const [first = "", second = "", third = ""] = good.split(".");

async function refusesParts(
  parts: readonly string[],
  code: ErrorCode,
  says: string,
): Promise<void> {
  await expectSigError(() => parseAttestation(parts.join(".")), code, says);
}

async function refuses(
  withHeader: string | object,
  withClaims: string | object,
  code: ErrorCode,
  says: string,
): Promise<void> {
  const jwt = await tokenOf(key, withHeader, withClaims);
  await expectSigError(() => parseAttestation(jwt), code, says);
}

async function refusesClaims(wrong: object, says: string): Promise<void> {
  await refuses(header, wrong, "invalid_attestation", says);
}

Deno.test("parses a valid attestation", () => {
  const parsed = parseAttestation(good);
  assertEquals<unknown>(parsed.header, header);
  assertEquals<unknown>(parsed.claims, claims);
  assertEquals(parsed.subject, claims.sub);
  assertEquals(parsed.scopes, ["email"]);
  assertEquals(parsed.signature.length, 64);
  const signed = new TextDecoder().decode(parsed.signingInput);
  assertEquals(signed, `${first}.${second}`);
});

Deno.test("ignores other claims, and accepts an absent scope", async () => {
  const { scope: _, ...rest } = claims;
  const odd = { ...rest, nbf: "x", __proto__x: 1, cnf: { jwk: {} } };
  const parsed = parseAttestation(await tokenOf(key, header, odd));
  assertEquals<unknown>(parsed.claims, rest);
  assertEquals(parsed.scopes, []);
  const empty = await tokenOf(key, header, { ...rest, scope: "" });
  assertEquals(parseAttestation(empty).scopes, []);
});

Deno.test("sorts scopes, rejects duplicates, and grants nothing for odd spacing", async () => {
  const scopesOf = async (scope: string) =>
    parseAttestation(await tokenOf(key, header, { ...claims, scope })).scopes;
  assertEquals(await scopesOf("b a"), ["a", "b"]);
  assertEquals(await scopesOf("a  b"), ["", "a", "b"]);
  assertEquals(await scopesOf("a\tb"), ["a\tb"]);
  for (const scope of ["a a", "b a b", " a  a"]) {
    const error = await expectSigError(
      () => scopesOf(scope),
      "invalid_attestation",
      "Cannot read attestation: claim scope must name each scope once",
    );
    assertEquals(error.context.pointer, "/scope");
  }
});

Deno.test("checks the size first", async () => {
  // Padded with a long signature, which may have any length here.
  const room = MAX_ATTESTATION_LENGTH - first.length - second.length - 2;
  for (const length of [room - 1, room].filter((n) => n % 4 !== 1)) {
    parseAttestation(`${first}.${second}.${"A".repeat(length)}`);
  }
  for (const signature of ["A".repeat(room + 1), "!".repeat(room + 1)]) {
    await refusesParts(
      [first, second, signature],
      "invalid_attestation",
      "it is longer than 8192 characters",
    );
  }
});

Deno.test("requires three base64url parts, of which the third may be empty", async () => {
  const three = "it must be three base64url parts with dots between them";
  for (const parts of [[""], [first], [first, second], [good, ""]]) {
    await refusesParts(parts, "invalid_attestation", three);
  }
  await expectSigError(
    () => parseAttestation(5 as unknown as string),
    "invalid_attestation",
    "it must be a string",
  );
  const spelled = "must be base64url without padding";
  for (
    const parts of [
      [`${first}=`, second, third],
      [first, `${second}\n`, third],
      [first, second, `${third}==`],
      [first, second, `${third.slice(0, -1)}_`],
      [` ${first}`, second, third],
      [first, second, "é"],
    ]
  ) await refusesParts(parts, "invalid_attestation", spelled);
  assertEquals(parseAttestation(`${first}.${second}.`).signature.length, 0);
});

Deno.test("header and claims must be strict JSON objects", async () => {
  const doubled = '{"alg":"EdDSA","\\u0061lg":"EdDSA"}';
  const cases: readonly (readonly [string, string])[] = [
    ["", "strict JSON: syntax error"],
    ["{", "strict JSON: syntax error"],
    ["{} {}", "strict JSON: syntax error"],
    ["\ufeff{}", "strict JSON: syntax error"],
    [doubled, "strict JSON: a member occurs twice"],
    ["[]", "one JSON object"],
    ["null", "one JSON object"],
    ['"x"', "one JSON object"],
    [
      `${'{"a":'.repeat(17)}1${"}".repeat(17)}`,
      "strict JSON: more than 16 levels",
    ],
    ['{"a":"\\ud800"}', "strict JSON: a string holds a lone surrogate"],
    ['{"exp":1e400}', "strict JSON: a number is too large"],
  ];
  for (const [text, says] of cases) {
    const code = "invalid_attestation";
    await refuses(text, claims, code, `the header must be ${says}`);
    await refuses(header, text, code, `the claims must be ${says}`);
  }
  const bytes = encodeBase64Url(Uint8Array.of(0x22, 0xff, 0x22));
  await refusesParts(
    [bytes, second, third],
    "invalid_attestation",
    "the header must be strict JSON: it is not UTF-8",
  );
});

Deno.test("alg must be EdDSA, and is checked before other header faults", async () => {
  const algs = ["none", "None", "HS256", "ES256", "Ed25519", "eddsa", "", null];
  for (const alg of [...algs, 5, ["EdDSA"]]) {
    const wrong = { ...header, alg, typ: "JWT", crit: ["x"] };
    await refuses(wrong, claims, "algorithm_not_allowed", "alg must be EdDSA");
  }
  const { alg: _, ...without } = header;
  await refuses(without, claims, "algorithm_not_allowed", "alg must be EdDSA");
  const none = encodeBase64Url(JSON.stringify({ ...header, alg: "none" }));
  await refusesParts([none, second, ""], "algorithm_not_allowed", "EdDSA");
});

Deno.test("typ must be the type of attestations", async () => {
  const { typ: _, ...without } = header;
  await refuses(without, claims, "typ_mismatch", "typ must be sig-attestation");
  const typs = ["JWT", "sig-event+jws", "SIG-ATTESTATION+JWT", null];
  for (const typ of [...typs, "application/sig-attestation+jwt"]) {
    const wrong = { ...header, typ, crit: ["x"] };
    await refuses(wrong, claims, "typ_mismatch", "typ must be sig-attestation");
  }
});

Deno.test("the header has exactly alg, typ and kid", async () => {
  const exactly = "the header must have exactly alg, typ and kid";
  const members = ["crit", "b64", "jwk", "jku", "x5u", "x5c", "zip", "cty"];
  for (const name of [...members, "__proto__x"]) {
    const wrong = { ...header, [name]: ["x"] };
    await refuses(wrong, claims, "invalid_header", exactly);
  }
  const raw = JSON.stringify(header).replace("{", '{"__proto__":{},');
  await refuses(raw, claims, "invalid_header", exactly);
});

Deno.test("kid must be a DID with a fragment", async () => {
  const kids = ["", "key-1", "did:key:z6Mk", "#z6Mk", "did:key:#z", null, 5];
  const odd = [
    "did:web:a.example/p#k",
    "did:web:a?q#k",
    "did:web:a#",
    "did:web:a#k#k",
  ];
  for (const kid of [...kids, ...odd, "did:web:a#k\u0000", ` ${kidOf(key)}`]) {
    await refuses(
      { ...header, kid },
      claims,
      "invalid_header",
      "kid must be a DID with a fragment",
    );
  }
  await refuses(
    { ...header, kid: `${claims.sub}#key-1` },
    claims,
    "invalid_header",
    "kid is a did:key, so its fragment must repeat the key",
  );
});

Deno.test("the required claims are present with the right JSON types", async () => {
  const names = ["iss", "sub", "aud", "nonce", "jti"];
  for (const name of [...names, "iat", "exp"]) {
    const type = names.includes(name) ? "string" : "number";
    const { [name]: _, ...without } = claims;
    await refusesClaims(without, `claim ${name} is required`);
    const values = type === "string" ? [5, ["x"]] : ["5", [5]];
    for (const value of [...values, null, true, {}]) {
      const odd = { ...claims, [name]: value };
      await refusesClaims(odd, `claim ${name} must be a ${type}`);
    }
  }
  for (const scope of [null, ["email"], 5]) {
    await refusesClaims({ ...claims, scope }, "claim scope must be a string");
  }
});

Deno.test("checks the header before the claims", async () => {
  await refuses({ ...header, alg: "none" }, {}, "algorithm_not_allowed", "alg");
  // The syntax of both parts is checked before either.
  await refuses({ ...header, alg: "none" }, "[]", "invalid_attestation", "one");
});
