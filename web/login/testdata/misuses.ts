/** Misuses of a login with the expected errors (docs/protocol.md §7). */

import type { ErrorCode } from "@sig/core";
import type { SigningKey } from "@sig/jose";
import type { Challenge } from "../create_challenge.ts";
import {
  AUDIENCE,
  type Changes,
  type LoginFixture,
  newKey,
  START_MS,
} from "./login_fixture.ts";

const NOW_S = START_MS / 1000;

/** A key that is not the subject's. */
export const OTHER_KEY: SigningKey = await newKey();

/** A misuse: the change and the expected error. */
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
  /** The request for the challenge. */
  readonly asked?: object;
  readonly code: ErrorCode;
  readonly says: string;
  /** Whether it counts against the challenge. */
  readonly counted?: true;
}

const invalid = "invalid_attestation";
/** Splits a JWT into its three parts. */
const parts = (jwt: string) => jwt.split(".") as [string, string, string];

/** Malformed requests. */
const REQUEST: readonly Misuse[] = [
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
    says: "/scopes/1: it is a duplicate",
  },
];

/** Malformed attestations: the tests of `parseAttestation` have every case. */
const SYNTAX: readonly Misuse[] = [
  {
    name: "not a JWT",
    attestation: () => "",
    code: invalid,
    says: "it must be three base64url parts",
  },
  {
    name: "another algorithm",
    header: { alg: "HS256" },
    code: "algorithm_not_allowed",
    says: "alg must be EdDSA",
  },
  {
    name: "another type",
    header: { typ: "JWT" },
    code: "typ_mismatch",
    says: "typ must be sig-attestation+jwt",
  },
  {
    name: "a key in the header",
    header: { jwk: OTHER_KEY.publicJwk },
    signer: OTHER_KEY,
    code: "invalid_header",
    says: "the header must have exactly alg, typ and kid",
  },
  {
    name: "a did:key kid with another fragment",
    header: { kid: "did:key:z6MkiTBz#z6MkiTBy" },
    code: "invalid_header",
    says: "kid is a did:key, so its fragment must repeat the key",
  },
  {
    name: "a claim of a wrong type",
    claims: { aud: [AUDIENCE] },
    code: invalid,
    says: "claim aud must be a string",
  },
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
    says: "its challenge is unknown",
  })),
  {
    name: "another challenge's id",
    attestation: async (login, challenge) => {
      const { challenge_id: jti } = await login.create();
      return await login.forge(challenge, { jti });
    },
    // The other challenge has a different nonce.
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
      const reading = await login.challenges.read(
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
      says: "is not a scope of the challenge",
      counted: true,
    })),
  {
    name: "any scope where none was asked",
    asked: {},
    code: "scope_not_granted",
    says: 'scope "email" is not a scope of the challenge',
    counted: true,
  },
  {
    name: "an expected scope scope exceeds what was granted",
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
  time({ iat: NOW_S + 61 }, "its iat is more than 60 s in the future"),
  time({ iat: NOW_S + 60.001 }, "its iat is more than 60 s in the future"),
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
    name: "a malformed did:key",
    attestation: (login, challenge) => {
      const did = "did:key:z0OIl";
      return login.forge(challenge, { iss: did, sub: did }, {
        kid: `${did}#z0OIl`,
      });
    },
    code: "invalid_header",
    says: "it is not a did:key",
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

/** The misuses in the order of docs/protocol.md §7. */
export const TABLES: readonly (readonly [string, readonly Misuse[]])[] = [
  ["request", REQUEST],
  ["syntax", SYNTAX],
  ["challenge", CHALLENGE],
  ["audience and nonce", AUDIENCE_AND_NONCE],
  ["subject", SUBJECT],
  ["scopes", SCOPES],
  ["times", TIMES],
  ["signature", SIGNATURE],
];
