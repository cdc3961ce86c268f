/** Answering a challenge with the key of this browser (PROTOCOL §7). @module */

import {
  decodeBase64UrlStrict,
  isSigError,
  signAttestation,
  validateSignableChallenge,
} from "../libraries/mod.ts";
import type { StoredKey } from "../keys/key_store.ts";
import { signingKeyOf } from "../keys/signing_key.ts";
import type { Challenge } from "../server/config.ts";

/** A request in words, or why it must not be signed. */
export type ReadRequest =
  | { readonly text: string; readonly fault?: undefined }
  | { readonly text?: undefined; readonly fault: string };

/**
 * A request in the words that its signed members make, or why it must not be
 * signed. The text that was sent along is compared, never shown.
 */
export function readRequest(challenge: Challenge): ReadRequest {
  try {
    return { text: validateSignableChallenge(challenge).text };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { fault: error.message };
  }
}

/**
 * Signs.
 *
 * @param scopes What is granted.
 * @param now The server's clock, as far as it is known.
 */
export async function attest(
  challenge: Challenge,
  key: StoredKey,
  scopes: readonly string[],
  now: () => Date,
): Promise<string> {
  return await signAttestation({
    challenge,
    scopes,
    now,
    key: signingKeyOf(key),
  });
}

/** Header and claims of an attestation, for people to look at; not judged. */
export function decodeAttestation(
  jwt: string,
): { readonly header: unknown; readonly claims: unknown } | undefined {
  const [header = "", claims = ""] = jwt.split(".");
  try {
    return { header: decode(header), claims: decode(claims) };
  } catch {
    return undefined;
  }
}

function decode(part: string): unknown {
  return JSON.parse(new TextDecoder().decode(decodeBase64UrlStrict(part)));
}

/**
 * The server's time: its own when it issued the challenge, and what has passed
 * here since. A wrong clock on this device does not matter then.
 */
export function clockOf(challenge: Challenge): () => Date {
  const issued = Date.parse(challenge.issued_at);
  const wall = Date.now();
  const steady = performance.now();
  return () => {
    // The steady clock may stop while the device sleeps.
    const passed = Math.max(Date.now() - wall, performance.now() - steady);
    return new Date(issued + passed);
  };
}
