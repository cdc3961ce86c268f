/**
 * A person who logs in without any code of this project: keys and signatures by
 * `node:crypto`, base58 and JWT implemented here.
 */

import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

function base58(bytes: Uint8Array): string {
  let number = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = BASE58[Number(number % 58n)] + text;
  return text;
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** The members of a challenge that the client reads. */
export interface GivenChallenge {
  readonly challenge_id: string;
  readonly audience: string;
  readonly nonce: string;
  readonly scopes: readonly string[];
  readonly expires_at: string;
}

/** A person with a key. */
export class Person {
  readonly #key: KeyObject;
  /** did:key of the public key. */
  readonly did: string;
  /** The public key as a JWK's `x`. */
  readonly x: string;

  /** Creates a person with a new key. */
  constructor() {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    this.#key = privateKey;
    this.x = publicKey.export({ format: "jwk" }).x!;
    const bytes = Buffer.from(this.x, "base64url");
    this.did = `did:key:z${base58(new Uint8Array([0xed, 0x01, ...bytes]))}`;
  }

  /** The kid of the did:key. */
  get kid(): string {
    return `${this.did}#${this.did.slice("did:key:".length)}`;
  }

  /** Answers a challenge; `claims` and `header` override the correct ones. */
  attest(
    challenge: GivenChallenge,
    nowMs: number,
    claims: Record<string, unknown> = {},
    header: Record<string, unknown> = {},
  ): string {
    const seconds = Math.floor(nowMs / 1000);
    const expires = Math.floor(Date.parse(challenge.expires_at) / 1000);
    const input = part({
      alg: "EdDSA",
      typ: "sig-attestation+jwt",
      kid: this.kid,
      ...header,
    }) + "." + part({
      iss: this.did,
      sub: this.did,
      aud: challenge.audience,
      nonce: challenge.nonce,
      jti: challenge.challenge_id,
      iat: seconds,
      exp: Math.min(expires, seconds + 120),
      scope: challenge.scopes.join(" "),
      ...claims,
    });
    const signature = sign(null, Buffer.from(input), this.#key);
    return `${input}.${signature.toString("base64url")}`;
  }
}
