/**
 * The fixed keys of the vectors. They are public: never use them elsewhere.
 * @module
 */

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
} from "node:crypto";
import { Buffer } from "node:buffer";
import { base64url, concat, type JsonObject } from "./bytes.ts";

/** A test key with its private part. */
export interface TestKey {
  /** Key identifier. */
  readonly kid: string;
  /** The text whose SHA-256 is the seed. */
  readonly label: string;
  /** The seed, 32 bytes. */
  readonly seed: Uint8Array;
  /** base64url of the public key. */
  readonly x: string;
  /** Signs bytes; Ed25519 is deterministic. */
  sign(message: Uint8Array): Uint8Array;
}

/** The ASN.1 prefix of an Ed25519 seed in PKCS #8 (RFC 8410 §7). */
const PKCS8_PREFIX = [
  ...[0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06],
  ...[0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20],
];

/** Derives a test key from a label. */
export function deriveKey(kid: string, label: string): TestKey {
  const seed = Uint8Array.from(createHash("sha256").update(label).digest());
  const key: KeyObject = createPrivateKey({
    key: Buffer.from(concat(Uint8Array.from(PKCS8_PREFIX), seed)),
    format: "der",
    type: "pkcs8",
  });
  const x = String(createPublicKey(key).export({ format: "jwk" }).x);
  return {
    kid,
    label,
    seed,
    x,
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  };
}

/** The first key of the issuer in every vector. */
export const KEY_1 = deriveKey("orgsign-1", "sig-test-key-1 (never use)");
/** The key after a rotation. */
export const KEY_2 = deriveKey("orgsign-2", "sig-test-key-2 (never use)");
/** A key that no issuer has published. */
export const STRANGER = deriveKey("orgsign-1", "sig-test-key-3 (never use)");

/** Returns the content of `vectors/keys.json`. */
export function keysDocument(): JsonObject {
  return {
    note: "TEST KEYS, KNOWN TO EVERYONE. Never use them for anything else. " +
      "Each seed d is the SHA-256 of its label.",
    keys: [KEY_1, KEY_2, STRANGER].map(({ kid, label, seed, x }) => ({
      label,
      jwk: { kty: "OKP", crv: "Ed25519", x, d: base64url(seed), kid },
    })),
  };
}
