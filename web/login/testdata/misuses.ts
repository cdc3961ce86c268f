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

/** What differs from an honest login. */
export interface Misuse {
  readonly claims?: Changes;
  readonly header?: Changes;
  readonly signer?: SigningKey;
  readonly expected?: object;
  /** Replaces the attestation. */
  readonly attestation?: (login: LoginFixture, challenge: Challenge) => unknown;
  /** The request for the challenge. */
  readonly asked?: object;
}

/** The error of misuses, which are listed by name. */
interface Refusal {
  readonly code: ErrorCode;
  readonly says: string;
  /** Whether each counts against the challenge. */
  readonly counted: boolean;
  readonly misuses: Readonly<Record<string, Misuse>>;
}

const free = (
  code: ErrorCode,
  says: string,
  misuses: Refusal["misuses"],
): Refusal => ({ code, says, counted: false, misuses });
const counted: typeof free = (...refused) => ({
  ...free(...refused),
  counted: true,
});

/** Lists misuses that differ in the value of one claim. */
const eachClaim = (claim: string, values: readonly unknown[]) =>
  Object.fromEntries(
    values.map((value) => [
      `${claim} ${String(value).slice(0, 20)}`,
      { claims: { [claim]: value } },
    ]),
  );

/** Splits a JWT into its three parts. */
const parts = (jwt: string) => jwt.split(".") as [string, string, string];

/** Returns a misuse by a subject with another DID. */
const ofSubject = (did: string, fragment: string): Misuse => ({
  claims: { iss: did, sub: did },
  header: { kid: `${did}#${fragment}` },
});

const P256 = "zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169";
const invalid = "invalid_attestation";
const late = "attestation_time_invalid";
const badSignature = "attestation_signature_invalid";

/** The refusals in the order of docs/protocol.md §7. */
export const TABLES: Readonly<Record<string, readonly Refusal[]>> = {
  request: [
    free("invalid_request", "/attestation: it is required", {
      "no attestation": { attestation: () => undefined },
    }),
    free("invalid_request", "/attestation: it must be a string", {
      "a number as the attestation": { attestation: () => 5 },
    }),
    free(
      "invalid_request",
      '/audiense: there is no member "audiense"; did you mean "audience"?',
      { "a misspelt expectation": { expected: { audiense: AUDIENCE } } },
    ),
    free("invalid_request", "/scopes/1: it is a duplicate", {
      "an expected scope twice": { expected: { scopes: ["email", "email"] } },
    }),
  ],
  // The tests of `parseAttestation` have every case.
  syntax: [
    free(invalid, "it must be three base64url parts", {
      "not a JWT": { attestation: () => "" },
    }),
    free("algorithm_not_allowed", "alg must be EdDSA", {
      "another algorithm": { header: { alg: "HS256" } },
    }),
    free("typ_mismatch", "typ must be sig-attestation+jwt", {
      "another type": { header: { typ: "JWT" } },
    }),
    free("invalid_header", "the header must have exactly alg, typ and kid", {
      "a key in the header": {
        ...{ header: { jwk: OTHER_KEY.publicJwk }, signer: OTHER_KEY },
      },
    }),
    free(
      "invalid_header",
      "kid is a did:key, so its fragment must repeat the key",
      { "another fragment": { header: { kid: "did:key:z6MkiT#z6MkiU" } } },
    ),
    free(invalid, "claim aud must be a string", {
      "a claim of a wrong type": { claims: { aud: [AUDIENCE] } },
    }),
  ],
  challenge: [
    free(invalid, "it answers another challenge than the one expected", {
      "another challenge than expected": {
        expected: { challenge_id: "A".repeat(32) },
      },
    }),
    free(
      "challenge_not_found",
      "its challenge is unknown",
      eachClaim("jti", [
        ...["A".repeat(32), "", "__proto__", "\u0000", "x".repeat(4_000)],
      ]),
    ),
    // The other challenge has a different nonce.
    free("nonce_mismatch", "it has another nonce", {
      "another challenge's id": {
        attestation: async (login, challenge) => {
          const { challenge_id: jti } = await login.create();
          return await login.forge(challenge, { jti });
        },
      },
    }),
  ],
  "audience and nonce": [
    free(
      "audience_mismatch",
      "it is for another audience",
      eachClaim("aud", [
        ...["https://evil.example", `${AUDIENCE}/`, "HTTPS://shop.example", ""],
      ]),
    ),
    free(
      "audience_mismatch",
      '"https://shop.example", not for the audience expected',
      {
        "another audience than expected": {
          expected: { audience: "https://other.example" },
        },
      },
    ),
    free("nonce_mismatch", "it has another nonce", {
      ...eachClaim("nonce", ["", "x", "A".repeat(43)]),
      "the digest of the nonce, as the store has it": {
        attestation: async (login, challenge) => {
          const { challenge_id } = challenge;
          const reading = await login.challenges.read(
            challenge_id,
            login.now(),
          );
          const nonce = reading.state === "issued" &&
            reading.record.nonce_sha256;
          return await login.forge(challenge, { nonce });
        },
      },
    }),
    free("nonce_mismatch", "it has another nonce than the one expected", {
      "another nonce than expected": { expected: { nonce: "A".repeat(43) } },
    }),
  ],
  subject: [
    counted("subject_mismatch", "iss and sub must be the DID of its kid", {
      ...eachClaim("iss", ["did:web:alice.example"]),
      ...eachClaim("sub", ["did:web:alice.example"]),
    }),
    counted(
      "subject_mismatch",
      'the challenge is for "did:web:alice.example"',
      {
        "another subject than the challenge's": {
          asked: { subject: "did:web:alice.example" },
        },
      },
    ),
  ],
  scopes: [
    counted(
      "scope_not_granted",
      "is not a scope of the challenge",
      eachClaim("scope", [
        ...["admin", "email admin", "Email", "email  profile"],
        ...[" ", "email ", "e"],
      ]),
    ),
    counted(
      "scope_not_granted",
      'scope "email" is not a scope of the challenge',
      { "any scope where none was asked": { asked: {} } },
    ),
    counted(
      "scope_not_granted",
      'scope "profile" was expected, and is not granted',
      {
        "more expected than granted": {
          expected: { scopes: ["email", "profile"] },
        },
      },
    ),
  ],
  times: [
    counted(
      late,
      "it has expired",
      eachClaim("exp", [NOW_S, NOW_S - 0.001, 0]),
    ),
    counted(
      late,
      "its iat is more than 60 s in the future",
      eachClaim("iat", [NOW_S + 61, NOW_S + 60.001]),
    ),
    counted(
      late,
      "its exp lies after the challenge's expiry",
      eachClaim("exp", [NOW_S + 301, 1e300]),
    ),
  ],
  signature: [
    counted(badSignature, "the signature is not one of key", {
      "another key": { signer: OTHER_KEY },
      "no signature": {
        attestation: async (login, challenge) =>
          parts(await login.attest(challenge)).with(2, "").join("."),
      },
      "claims of another attestation": {
        attestation: async (login, challenge) => {
          const [, , signature] = parts(await login.attest(challenge));
          const forged = parts(await login.forge(challenge, { scope: "" }));
          return forged.with(2, signature).join(".");
        },
      },
    }),
    counted("invalid_header", "it is not a did:key", {
      "a malformed did:key": ofSubject("did:key:z0OIl", "z0OIl"),
    }),
    counted("invalid_key", "the did:key is not an Ed25519 key", {
      "a did:key of another kind": ofSubject(`did:key:${P256}`, P256),
    }),
    free("unsupported_did_method", "only did:key is supported here", {
      "a DID method that is not known here": ofSubject("did:jwk:e30", "0"),
    }),
  ],
};
