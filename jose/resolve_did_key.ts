/** The key of an attestation, offline. @module */

import { isSigError, quote, SigError } from "@sig/core";
import { didKeyToJwk } from "./did_key.ts";
import {
  importVerificationKey,
  type VerificationKey,
} from "./verification_key.ts";

/**
 * The key that a did:key URL such as `did:key:z6Mk…#z6Mk…` names. Nothing is
 * fetched: the DID is the key. This is what `verifyAttestation` does by itself;
 * a verifier that also knows did:web subjects falls back to it.
 *
 * @example
 * ```ts
 * import { resolveDidKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const id = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * const key = await resolveDidKey(`did:key:${id}#${id}`);
 * assertEquals(key.jwk.x, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik");
 * ```
 *
 * @throws {SigError} `unsupported_did_method` for another DID method,
 * `invalid_key`, and `invalid_header` for what is no did:key or has another
 * fragment than its own: the kid is a signed header's, not a caller's mistake.
 */
export async function resolveDidKey(kid: string): Promise<VerificationKey> {
  const [did = "", fragment] = kid.split("#", 2);
  try {
    const jwk = didKeyToJwk(did);
    if (kid === `${did}#${did.slice("did:key:".length)}`) {
      return await importVerificationKey({ ...jwk, kid }, { backend: "web" });
    }
  } catch (error) {
    if (!isSigError(error, "invalid_identifier")) throw error;
    throw invalidKid(kid, "it is no did:key", error);
  }
  throw invalidKid(
    kid,
    fragment === undefined
      ? "it has no fragment"
      : "its fragment must repeat the key",
  );
}

function invalidKid(kid: string, why: string, cause?: unknown): SigError {
  return new SigError(
    "invalid_header",
    `Cannot use kid ${quote(kid)}: ${why}`,
    {
      ...(cause === undefined ? {} : { cause }),
    },
  );
}
