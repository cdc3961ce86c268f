/** The key of an attestation, offline. @module */

import { isSigError, quote, SigError } from "@sig/core";
import { BackendChoice } from "./backend.ts";
import { readDidKey } from "./did_key.ts";
import type { PublicKey } from "./public_key.ts";
import {
  importPublicKey,
  type ImportVerificationKeyOptions,
  type VerificationKey,
} from "./verification_key.ts";

/**
 * The key that a did:key URL such as `did:key:z6Mk…#z6Mk…` names. Nothing is
 * fetched: the DID is the key. This is what `verifyAttestation` does by itself;
 * a verifier that also knows did:web subjects falls back to it. The backend is
 * `web` unless told: most keys are used once.
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
 * @throws {TypeError} when backend `node` is wanted where there is none.
 */
export async function resolveDidKey(
  kid: string,
  options: ImportVerificationKeyOptions = {},
): Promise<VerificationKey> {
  const choice = new BackendChoice(options.backend ?? "web");
  const [did = "", fragment] = kid.split("#", 2);
  const publicKey = readKey(kid, did);
  if (kid === `${did}#${did.slice("did:key:".length)}`) {
    return await importPublicKey(publicKey, kid, choice);
  }
  throw invalidKid(
    kid,
    fragment === undefined
      ? "it has no fragment"
      : "its fragment must repeat the key",
  );
}

function readKey(kid: string, did: string): PublicKey {
  try {
    return readDidKey(did);
  } catch (error) {
    if (!isSigError(error, "invalid_identifier")) throw error;
    throw invalidKid(kid, "it is no did:key", error);
  }
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
