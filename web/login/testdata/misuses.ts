/** Ways to misuse a login, and what each comes to (PROTOCOL §7, W2). */

import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import type { Challenge } from "../challenge.ts";
import {
  AUDIENCE,
  type Changes,
  type LoginFixture,
  newKey,
  signTexts,
  START_MS,
} from "./login_fixture.ts";

/** A key that is not the subject's. */
export const OTHER_KEY: SigningKey = await newKey();
const NOW_S = START_MS / 1000;

/** A misuse: what is changed, and what comes of it. */
export interface Misuse {
  readonly name: string;
  readonly claims?: Changes;
  readonly header?: Changes;
  readonly signer?: SigningKey;
  readonly expected?: object;
  /** Replaces the attestation. */
  readonly attestation?: (
    login: LoginFixture,
    challenge: Challenge,
  ) => unknown | Promise<unknown>;
  /** What the challenge is made from. */
  readonly asked?: object;
  readonly code: ErrorCode;
  readonly says: string;
  /** Whether it counts against the challenge. */
  readonly counted?: true;
}

const invalid = "invalid_attestation";
const json = (value: unknown) => encodeBase64Url(JSON.stringify(value));
const parts = (jwt: string) => jwt.split(".") as [string, string, string];

const REQUEST: readonly Misuse[] = [
  {
    name: "no attestation",
    attestation: () => undefined,
    code: "invalid_request",
    says: "/attestation: it is required",
  },
  {
    name: "an attestation that is no text",
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
    name: "an expected scope twice",
    expected: { scopes: ["email", "email"] },
    code: "invalid_request",
    says: "/scopes/1: it must not stand twice",
  },
];

const SYNTAX: readonly Misuse[] = [
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
    name: "a header member twice",
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
    name: "a claim twice, once escaped",
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

const HEADER: readonly Misuse[] = [
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

const CLAIMS: readonly Misuse[] = [
  ...["iss", "sub", "aud", "nonce", "jti"].flatMap((name): Misuse[] =>
    [undefined, null, 5, [AUDIENCE], {}].map((value) => ({
      name: `${name} ${JSON.stringify(value)}`,
      claims: { [name]: value },
      code: invalid,
      says: `claim ${name} must be a string`,
    }))
  ),
  ...["iat", "exp"].flatMap((name): Misuse[] =>
    [undefined, null, "1769850000"].map((value) => ({
      name: `${name} ${JSON.stringify(value)}`,
      claims: { [name]: value },
      code: invalid,
      says: `claim ${name} must be a number`,
    }))
  ),
  ...[null, ["email"], 5].map((scope): Misuse => ({
    name: `scope ${JSON.stringify(scope)}`,
    claims: { scope },
    code: invalid,
    says: "claim scope must be a string",
  })),
];

const CHALLENGE: readonly Misuse[] = [
  {
    name: "another challenge than expected",
    expected: { challenge_id: "A".repeat(32) },
    code: invalid,
    says: "it answers another challenge than the one expected",
  },
  ...["A".repeat(32), "", "__proto__", "\u0000", "x".repeat(4_000)].map((
    jti,
  ): Misuse => ({
    name: `an unknown challenge ${jti.slice(0, 20)}`,
    claims: { jti },
    code: "challenge_not_found",
    says: "its challenge is not known",
  })),
  {
    name: "another challenge's id",
    attestation: async (login, challenge) => {
      const { challenge_id: jti } = await login.create();
      return await login.forge(challenge, { jti });
    },
    // That one has another nonce.
    code: "nonce_mismatch",
    says: "it has another nonce",
  },
];

const AUDIENCE_AND_NONCE: readonly Misuse[] = [
  ...["https://evil.example", `${AUDIENCE}/`, "HTTPS://shop.example", ""].map((
    aud,
  ): Misuse => ({
    name: `aud ${aud}`,
    claims: { aud },
    code: "audience_mismatch",
    says: "it is for another audience",
  })),
  {
    name: "another audience than expected",
    expected: { audience: "https://other.example" },
    code: "audience_mismatch",
    says: '"https://shop.example", not for the audience expected',
  },
  ...["", "x", "A".repeat(43)].map((nonce): Misuse => ({
    name: `nonce ${nonce}`,
    claims: { nonce },
    code: "nonce_mismatch",
    says: "it has another nonce",
  })),
  {
    name: "the digest of the nonce, as the store has it",
    attestation: async (login, challenge) => {
      const reading = await login.store.read(
        challenge.challenge_id,
        login.now(),
      );
      const nonce = reading.state === "issued" && reading.record.nonce_sha256;
      return await login.forge(challenge, { nonce });
    },
    code: "nonce_mismatch",
    says: "it has another nonce",
  },
  {
    name: "another nonce than expected",
    expected: { nonce: "A".repeat(43) },
    code: "nonce_mismatch",
    says: "it has another nonce than the one expected",
  },
];

const SUBJECT: readonly Misuse[] = [
  ...["iss", "sub"].map((name): Misuse => ({
    name: `${name} is somebody else`,
    claims: { [name]: "did:web:alice.example" },
    code: "subject_mismatch",
    says: "iss and sub must be the DID of its kid",
    counted: true,
  })),
  {
    name: "another subject than the challenge's",
    asked: { subject: "did:web:alice.example" },
    code: "subject_mismatch",
    says: 'the challenge is for "did:web:alice.example"',
    counted: true,
  },
];

const SCOPES: readonly Misuse[] = [
  ...["admin", "email admin", "Email", "email  profile", " ", "email ", "e"]
    .map((scope): Misuse => ({
      name: `scope "${scope}"`,
      claims: { scope },
      code: "scope_not_granted",
      says: "is not among the challenge's",
      counted: true,
    })),
  {
    name: "any scope where none was asked",
    asked: {},
    code: "scope_not_granted",
    says: 'scope "email" is not among the challenge\'s',
    counted: true,
  },
  {
    name: "an expected scope that was not granted",
    expected: { scopes: ["email", "profile"] },
    code: "scope_not_granted",
    says: 'scope "profile" was expected, and is not granted',
    counted: true,
  },
];

const time = (claims: Changes, says: string): Misuse => ({
  name: JSON.stringify(claims),
  claims,
  code: "attestation_time_invalid",
  says,
  counted: true,
});

const TIMES: readonly Misuse[] = [
  time({ exp: NOW_S }, "it has expired"),
  time({ exp: NOW_S - 0.001 }, "it has expired"),
  time({ exp: 0 }, "it has expired"),
  time({ iat: NOW_S + 61 }, "its iat lies more than 60 s ahead"),
  time({ iat: NOW_S + 60.001 }, "its iat lies more than 60 s ahead"),
  time({ exp: NOW_S + 301 }, "its exp lies after the challenge's expiry"),
  time({ exp: 1e300 }, "its exp lies after the challenge's expiry"),
];

const SIGNATURE: readonly Misuse[] = [
  {
    name: "signed by another key",
    signer: OTHER_KEY,
    code: "attestation_signature_invalid",
    says: "the signature is not one of key",
    counted: true,
  },
  {
    name: "no signature",
    attestation: async (login, challenge) =>
      parts(await login.attest(challenge)).with(2, "").join("."),
    code: "attestation_signature_invalid",
    says: "the signature is not one of key",
    counted: true,
  },
  {
    name: "claims of another attestation",
    attestation: async (login, challenge) => {
      const [, , signature] = parts(await login.attest(challenge));
      const forged = parts(await login.forge(challenge, { scope: "" }));
      return forged.with(2, signature).join(".");
    },
    code: "attestation_signature_invalid",
    says: "the signature is not one of key",
    counted: true,
  },
  {
    name: "a did:key that is none",
    attestation: (login, challenge) => {
      const did = "did:key:z0OIl";
      return login.forge(challenge, { iss: did, sub: did }, {
        kid: `${did}#z0OIl`,
      });
    },
    code: "invalid_header",
    says: "it is no did:key",
    counted: true,
  },
  {
    name: "a did:key of another kind",
    attestation: (login, challenge) => {
      const id = "zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169";
      const did = `did:key:${id}`;
      return login.forge(challenge, { iss: did, sub: did }, {
        kid: `${did}#${id}`,
      });
    },
    code: "invalid_key",
    says: "the did:key is not an Ed25519 key",
    counted: true,
  },
  {
    name: "a DID method that is not known here",
    attestation: (login, challenge) => {
      const did = "did:jwk:e30";
      return login.forge(challenge, { iss: did, sub: did }, {
        kid: `${did}#0`,
      });
    },
    code: "unsupported_did_method",
    says: "only did:key is supported here",
  },
];

/** In the order of PROTOCOL §7. */
export const TABLES: readonly (readonly [string, readonly Misuse[]])[] = [
  ["request", REQUEST],
  ["syntax", SYNTAX],
  ["header", HEADER],
  ["claims", CLAIMS],
  ["challenge", CHALLENGE],
  ["audience and nonce", AUDIENCE_AND_NONCE],
  ["subject", SUBJECT],
  ["scopes", SCOPES],
  ["times", TIMES],
  ["signature", SIGNATURE],
];

/** The classic: the verifier's public key taken for a shared secret. */
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
