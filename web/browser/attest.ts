/** Answers a challenge with a key of this browser (docs/protocol.md §7). @module */

import {
  type SignableChallenge,
  signAttestation,
  type SigningKey,
} from "@sig/jose";
import type { BrowserKey } from "./key_store.ts";

/** Wraps a key of this browser as the signing key of the libraries. */
export function signingKeyOf(
  { did, privateKey, publicJwk }: BrowserKey,
): SigningKey {
  return {
    kid: did,
    publicJwk,
    async sign(message) {
      const bytes = new Uint8Array(message);
      return new Uint8Array(
        await crypto.subtle.sign("Ed25519", privateKey, bytes),
      );
    },
  };
}

/**
 * Signs a challenge.
 *
 * @param scopes The scopes to grant (default: all requested scopes).
 * @param now Returns the server's time, as far as it is known.
 * @throws {SigError} as `signAttestation` of `@sig/jose`.
 */
export async function attest(
  challenge: SignableChallenge,
  key: BrowserKey,
  scopes: readonly string[] | undefined,
  now: () => Date,
): Promise<string> {
  return await signAttestation({
    challenge,
    key: signingKeyOf(key),
    now,
    ...(scopes === undefined ? {} : { scopes }),
  });
}

/**
 * Returns the server's clock: its time when it issued the challenge, plus the
 * time passed since. A wrong clock on this device has no effect.
 */
export function clockOf(
  { issued_at }: { readonly issued_at: string },
): () => Date {
  const issued = Date.parse(issued_at);
  const wall = Date.now();
  const steady = performance.now();
  return () => {
    // `performance.now()` may stop while the device sleeps.
    const passed = Math.max(Date.now() - wall, performance.now() - steady);
    return new Date(issued + passed);
  };
}
