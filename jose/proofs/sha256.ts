/** Synchronous SHA-256 of short texts (FIPS 180-4). @module */

import { Sha256State } from "../bytes/sha256.ts";

/** Reused, since its buffers take longer to make than a short text to hash. */
const state = new Sha256State();

/**
 * Returns the SHA-256 (32 bytes) of the concatenated pieces. A tree needs
 * thousands of digests of 65 bytes: for them this takes a fifth of the time of
 * `node:crypto`, and WebCrypto's is asynchronous.
 *
 * @example
 * ```ts
 * import { sha256 } from "@sig/jose/proofs";
 * import { assertEquals } from "@std/assert";
 * import { encodeHex } from "@std/encoding/hex";
 *
 * assertEquals(encodeHex(sha256()).slice(0, 16), "e3b0c44298fc1c14");
 * ```
 */
export function sha256(...pieces: readonly Uint8Array[]): Uint8Array {
  state.reset();
  for (const piece of pieces) state.update(piece);
  return state.finish();
}
