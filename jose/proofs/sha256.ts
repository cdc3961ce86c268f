/** Synchronous SHA-256 (FIPS 180-4) on every platform. @module */

import { Sha256 as PlainSha256 } from "../bytes/sha256.ts";
import { loadNodeCrypto } from "../keys/platform.ts";

/** Returns the digest (32 bytes) of the concatenated pieces. */
export type Sha256 = (...pieces: readonly Uint8Array[]) => Uint8Array;

/**
 * Creates a synchronous SHA-256: the platform's where available (Deno and
 * Node.js), otherwise one in JavaScript. WebCrypto's is asynchronous, and a
 * tree needs thousands of digests of 65 bytes.
 *
 * @example
 * ```ts
 * import { createSha256 } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 * import { encodeHex } from "@std/encoding/hex";
 *
 * const sha256 = createSha256();
 * assertEquals(encodeHex(sha256()).slice(0, 16), "e3b0c44298fc1c14");
 * ```
 */
export function createSha256(): Sha256 {
  const node = loadNodeCrypto();
  if (typeof node?.createHash !== "function") return createPlainSha256();
  return (...pieces) => {
    const hash = node.createHash("sha256");
    for (const piece of pieces) hash.update(piece);
    return new Uint8Array(hash.digest());
  };
}

/** Creates a SHA-256 in JavaScript, for platforms without a synchronous one. */
export function createPlainSha256(): Sha256 {
  return (...pieces) => {
    const hash = new PlainSha256();
    for (const piece of pieces) hash.update(piece);
    return hash.digest();
  };
}
