/** Malformed requests and attestations. */

import { encodeBase64Url } from "@std/encoding/base64url";
import type { Challenge } from "../create_challenge.ts";
import { AUDIENCE, type LoginFixture, signTexts } from "./login_fixture.ts";
import { invalid, json, type Misuse, OTHER_KEY } from "./misuse.ts";

/** Malformed requests. */
export const REQUEST: readonly Misuse[] = [
  {
    name: "no attestation",
    attestation: () => undefined,
    code: "invalid_request",
    says: "/attestation: it is required",
  },
  {
    name: "an attestation that is not a string",
    attestation: () => 5,
    code: "invalid_request",
    says: "/attestation: it must be a string",
  },
  {
    name: "a misspelt expectation",
    expected: { audiense: AUDIENCE },
    code: "invalid_request",
    says: '/audiense: there is no member "audiense"; did you mean "audience"?',
  },
  {
    name: "a duplicate expected scope",
    expected: { scopes: ["email", "email"] },
    code: "invalid_request",
    says: "/scopes/1: it must not stand twice",
  },
];

/** Malformed attestations. */
export const SYNTAX: readonly Misuse[] = [
  {
    name: "oversize",
    claims: { more: "x".repeat(8_192) },
    code: invalid,
    says: "it is longer than 8192 characters",
  },
  {
    name: "empty",
    attestation: () => "",
    code: invalid,
    says: "it must be three base64url parts",
  },
  {
    name: "two parts",
    attestation: () => "e30.e30",
    code: invalid,
    says: "it must be three base64url parts",
  },
  {
    name: "padding",
    attestation: async (login, challenge) =>
      `${await login.attest(challenge)}==`,
    code: invalid,
    says: "the signature must be base64url without padding",
  },
  {
    name: "a header that is no JSON",
    attestation: () => `${encodeBase64Url("{")}.e30.`,
    code: invalid,
    says: "the header must be strict JSON",
  },
  {
    name: "a duplicate header member",
    attestation: (login, challenge) =>
      signTexts(
        `{"alg":"none",${JSON.stringify(login.headerOf()).slice(1)}`,
        JSON.stringify(login.claimsOf(challenge)),
        login.key,
      ),
    code: invalid,
    says: "the header must be strict JSON",
  },
  {
    name: "a duplicate claim, once escaped",
    attestation: (login, challenge) =>
      signTexts(
        JSON.stringify(login.headerOf()),
        `{"\\u0073cope":"admin",${
          JSON.stringify(login.claimsOf(challenge)).slice(1)
        }`,
        login.key,
      ),
    code: invalid,
    says: "the claims must be strict JSON",
  },
  {
    name: "claims that are an array",
    attestation: (login) => `${json(login.headerOf())}.W10.`,
    code: invalid,
    says: "the claims must be one JSON object",
  },
];

/** Invalid headers of attestations. */
export const HEADER: readonly Misuse[] = [
  ...[
    undefined,
    "none",
    "None",
    "HS256",
    "ES256",
    "RS256",
    "Ed25519",
    "eddsa",
    5,
  ]
    .map((alg): Misuse => ({
      name: `alg ${alg}`,
      header: { alg },
      code: "algorithm_not_allowed",
      says: "alg must be EdDSA",
    })),
  {
    name: "unsecured",
    attestation: (login, challenge) =>
      `${json({ ...login.headerOf(), alg: "none" })}.${
        json(login.claimsOf(challenge))
      }.`,
    code: "algorithm_not_allowed",
    says: "alg must be EdDSA",
  },
  {
    name: "HS256 over the public key",
    attestation: hmacWithPublicKey,
    code: "algorithm_not_allowed",
    says: "alg must be EdDSA",
  },
  ...[undefined, "JWT", "sig-event+jws", "application/sig-attestation+jwt"]
    .map((typ): Misuse => ({
      name: `typ ${typ}`,
      header: { typ },
      code: "typ_mismatch",
      says: "typ must be sig-attestation+jwt",
    })),
  ...[undefined, "", "key-1", "did:key:z6Mk", "#key", "did:key:z6Mk#a#b", 5]
    .map((kid): Misuse => ({
      name: `kid ${kid}`,
      header: { kid },
      code: "invalid_header",
      says: "kid must be a DID with a fragment",
    })),
  {
    name: "a did:key kid with another fragment",
    header: { kid: "did:key:z6MkiTBz#z6MkiTBy" },
    code: "invalid_header",
    says: "its fragment must repeat the key",
  },
  ...[
    { jwk: OTHER_KEY.publicJwk },
    { jku: "https://evil.example/jwks.json" },
    { x5c: ["MIIB"] },
    { x5u: "https://evil.example/x5" },
    { crit: ["exp"] },
    { crit: [] },
    { b64: false },
    { cty: "JWT" },
  ].map((more): Misuse => ({
    name: `header with ${Object.keys(more)}`,
    header: more,
    signer: OTHER_KEY,
    code: "invalid_header",
    says: "the header must have exactly alg, typ and kid",
  })),
];

function expected(value: unknown, type: string): string {
  return value === undefined ? "is required" : `must be ${type}`;
}

/** Claims of wrong types. */
export const CLAIMS: readonly Misuse[] = [
  ...["iss", "sub", "aud", "nonce", "jti"].flatMap((name): Misuse[] =>
    [undefined, null, 5, [AUDIENCE], {}].map((value) => ({
      name: `${name} ${JSON.stringify(value)}`,
      claims: { [name]: value },
      code: invalid,
      says: `claim ${name} ${expected(value, "a string")}`,
    }))
  ),
  ...["iat", "exp"].flatMap((name): Misuse[] =>
    [undefined, null, "1769850000"].map((value) => ({
      name: `${name} ${JSON.stringify(value)}`,
      claims: { [name]: value },
      code: invalid,
      says: `claim ${name} ${expected(value, "a number")}`,
    }))
  ),
  ...[null, ["email"], 5].map((scope): Misuse => ({
    name: `scope ${JSON.stringify(scope)}`,
    claims: { scope },
    code: invalid,
    says: "claim scope must be a string",
  })),
];

/** The algorithm confusion attack: the public key used as a shared secret. */
async function hmacWithPublicKey(
  login: LoginFixture,
  challenge: Challenge,
): Promise<string> {
  const input = `${json({ ...login.headerOf(), alg: "HS256" })}.${
    json(login.claimsOf(challenge))
  }`;
  const secret = Uint8Array.fromBase64(login.key.publicJwk.x, {
    alphabet: "base64url",
  });
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", secret, algorithm, false, [
    "sign",
  ]);
  const signature = await crypto.subtle.sign(
    "HMAC",
    key,
    new TextEncoder().encode(input),
  );
  return `${input}.${encodeBase64Url(signature)}`;
}
