// @ts-check
/// <reference lib="dom" />
/** Answering a challenge with the key of this browser (PROTOCOL §7). @module */

import {
  decodeBase64UrlStrict,
  isSigError,
  signAttestation,
  validateSignableChallenge,
} from "./verify.js";

/**
 * A request in the words that its signed members make, or why it must not be
 * signed. The text that was sent along is compared, never shown.
 *
 * @param {import("./api.js").Challenge} challenge
 * @returns {{ text: string, fault?: undefined } | { text?: undefined, fault: string }}
 */
export function readRequest(challenge) {
  try {
    return { text: validateSignableChallenge(challenge).text };
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { fault: error.message };
  }
}

/**
 * @param {import("./api.js").Challenge} challenge
 * @param {import("./key_store.js").StoredKey} key
 * @param {readonly string[]} scopes What is granted.
 * @param {() => Date} now The server's clock, as far as it is known.
 * @returns {Promise<string>}
 */
export async function attest(challenge, key, scopes, now) {
  return await signAttestation({
    challenge,
    scopes,
    now,
    key: {
      kid: key.did,
      publicJwk: key.publicJwk,
      async sign(message) {
        const bytes = new Uint8Array(message);
        return new Uint8Array(
          await crypto.subtle.sign("Ed25519", key.privateKey, bytes),
        );
      },
    },
  });
}

/**
 * Header and claims of an attestation, for people to look at; not judged.
 *
 * @param {string} jwt
 * @returns {{ header: unknown, claims: unknown } | undefined}
 */
export function decodeAttestation(jwt) {
  const [header = "", claims = ""] = jwt.split(".");
  try {
    return { header: decode(header), claims: decode(claims) };
  } catch {
    return undefined;
  }
}

/** @param {string} part */
function decode(part) {
  return JSON.parse(new TextDecoder().decode(decodeBase64UrlStrict(part)));
}

/**
 * The server's time: its own when it issued the challenge, and what has passed
 * here since. A wrong clock on this device does not matter then.
 *
 * @param {import("./api.js").Challenge} challenge
 * @returns {() => Date}
 */
export function clockOf(challenge) {
  const issued = Date.parse(challenge.issued_at);
  const wall = Date.now();
  const steady = performance.now();
  return () => {
    // The steady clock may stop while the device sleeps.
    const passed = Math.max(Date.now() - wall, performance.now() - steady);
    return new Date(issued + passed);
  };
}
