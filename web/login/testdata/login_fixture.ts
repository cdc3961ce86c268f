/** A working login, which tests change in one detail at a time. */

import { createMemoryStore } from "@sig/consumer/store";
import {
  generateSigningKey,
  importSigningKey,
  jwkToDidKey,
  signAttestation,
  type SigningKey,
} from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";
import { type Challenges, challengesIn } from "../challenges.ts";
import { type Challenge, createChallenge } from "../create_challenge.ts";
import { createSubjectKeys } from "../subject_key.ts";
import {
  type VerifiedLogin,
  verifyLogin,
  type VerifyLoginOptions,
} from "../verify_login.ts";

/** The audience of the tests. */
export const AUDIENCE = "https://shop.example";
/** The start of the tests in milliseconds since 1970. */
export const START_MS = Date.parse("2026-01-31T09:00:00Z");

/** Header members or claims to override; undefined removes them. */
export type Changes = Readonly<Record<string, unknown>>;

/** One server, one subject, and a clock that the test sets. */
export class LoginFixture {
  /** The clock. */
  nowMs = START_MS;
  /** The stored challenges. */
  readonly challenges: Challenges;
  /** The number of counted failures. */
  failures = 0;
  /** The subject's key. */
  readonly key: SigningKey;
  /** The subject's DID. */
  readonly did: string;
  readonly #more: Partial<VerifyLoginOptions>;

  private constructor(
    challenges: Challenges,
    key: SigningKey,
    more: Partial<VerifyLoginOptions>,
  ) {
    this.challenges = {
      ...challenges,
      countFailure: (id, at) => {
        this.failures++;
        return challenges.countFailure(id, at);
      },
    };
    this.key = key;
    this.did = jwkToDidKey(key.publicJwk);
    this.#more = more;
  }

  /** Creates a fixture; `more` overrides the default options. */
  static async make(
    more: Partial<VerifyLoginOptions> = {},
  ): Promise<LoginFixture> {
    const challenges = more.challenges ?? challengesIn(createMemoryStore());
    return new LoginFixture(challenges, await newKey(), more);
  }

  /** The clock as a function. */
  readonly now = (): Date => new Date(this.nowMs);

  /** The kid of the subject's key. */
  get kid(): string {
    return `${this.did}#${this.did.slice("did:key:".length)}`;
  }

  /** Creates a challenge (default: two scopes). */
  create(input: object = { scopes: ["email", "profile"] }): Promise<Challenge> {
    return createChallenge(input, {
      challenges: this.challenges,
      audiences: [AUDIENCE],
      now: this.now,
    });
  }

  /** Signs a valid attestation. */
  attest(challenge: Challenge): Promise<string> {
    return signAttestation({ challenge, key: this.key, now: this.now });
  }

  /** Signs an attestation with changed header members or claims. */
  async forge(
    challenge: Challenge,
    claims: Changes = {},
    header: Changes = {},
    signer: SigningKey = this.key,
  ): Promise<string> {
    const valid = { alg: "EdDSA", typ: "sig-attestation+jwt", kid: this.kid };
    const validClaims = {
      iss: this.did,
      sub: this.did,
      aud: challenge.audience,
      nonce: challenge.nonce,
      jti: challenge.challenge_id,
      iat: START_MS / 1000,
      exp: Date.parse(challenge.expires_at) / 1000,
      scope: "email",
    };
    const input = [{ ...valid, ...header }, { ...validClaims, ...claims }]
      .map((part) => encodeBase64Url(JSON.stringify(part))).join(".");
    const signature = await signer.sign(new TextEncoder().encode(input));
    return `${input}.${encodeBase64Url(signature)}`;
  }

  /** Verifies an attestation. */
  verify(
    attestation: unknown,
    expected: object = {},
    more: Partial<VerifyLoginOptions> = {},
  ): Promise<VerifiedLogin> {
    return verifyLogin({ attestation, ...expected }, {
      resolveKey: createSubjectKeys(),
      now: this.now,
      ...this.#more,
      ...more,
      challenges: this.challenges,
    });
  }

  /** Whether the challenge can still be answered. */
  async isOpen(challenge: Challenge): Promise<boolean> {
    const { challenge_id } = challenge;
    const { state } = await this.challenges.read(challenge_id, this.now());
    return state === "issued";
  }
}

/** Generates a key. */
export async function newKey(): Promise<SigningKey> {
  return await importSigningKey(await generateSigningKey({ kid: "key-1" }));
}
