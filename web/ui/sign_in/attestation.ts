/** A request and its answer, for people to read (PROTOCOL §7). @module */

import {
  decodeBase64UrlStrict,
  isSigError,
  validateSignableChallenge,
} from "../libraries/login.ts";
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
