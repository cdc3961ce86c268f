/** Whom a challenge may be for. @module */

import { isSigError, parseDidWeb, quote, SigError } from "@sig/core";
import { didKeyToJwk } from "@sig/jose";

/** Characters of a subject at most (PROTOCOL §8). */
const MAX_SUBJECT_LENGTH = 512;

/**
 * Checks that a DID can log in: a did:key of an Ed25519 key, or a did:web.
 *
 * @throws {SigError} `invalid_identifier`, `unsupported_did_method`;
 * `address_not_allowed` for the did:web of an IP address or a local name,
 * unless `allowPrivate`.
 */
export function requireSubject(did: string, allowPrivate: boolean): void {
  try {
    if (did.length > MAX_SUBJECT_LENGTH) {
      throw malformed(
        did,
        `it is longer than ${MAX_SUBJECT_LENGTH} characters`,
      );
    }
    if (did.startsWith("did:key:")) didKeyToJwk(did);
    else if (/^did:[a-z0-9]+:/.test(did)) parseDidWeb(did, { allowPrivate });
    else throw malformed(did, "it must be a did:key or did:web");
  } catch (error) {
    if (!isSigError(error)) throw error;
    // The request is wrong, whatever is wrong with the key in it.
    const code = error.code === "invalid_key"
      ? "invalid_identifier"
      : error.code;
    throw new SigError(code, error, {
      context: { ...error.context, pointer: "/subject" },
      cause: error,
    });
  }
}

function malformed(did: string, why: string): SigError {
  return new SigError("invalid_identifier", `Cannot use ${quote(did)}: ${why}`);
}
