/** From the `kid` of an attestation to the subject's key. @module */

import { resolveDidKey, type VerificationKey } from "@sig/jose";

/** did:key keys that are remembered unless told. */
const DEFAULT_MAX_KEYS = 1_024;

/**
 * Finds the key that the `kid` of an attestation names, or throws. What it costs
 * to find may be limited by the challenge that is answered.
 */
export type LoginKeyResolver = (
  kid: string,
  challengeId?: string,
) => VerificationKey | Promise<VerificationKey>;

/** Gets the key of a did:web subject. */
export type ResolveSubjectKey = (
  did: string,
  kid: string,
  challengeId?: string,
) => Promise<VerificationKey>;

/** Options of {@linkcode createSubjectKeys}. */
export interface SubjectKeysOptions {
  /** The way to did:web keys; without it did:web can't log in. */
  readonly resolveSubjectKey?: ResolveSubjectKey;
  /** Imported did:key keys to remember; 1,024 unless told. */
  readonly maxKeys?: number;
}

/**
 * Makes the resolver that a server keeps. A did:key is its own key, so it is
 * never fetched, and the imported key of one that comes again is remembered,
 * least recently used out first. What a did:web stands for may change: it is
 * asked each time.
 *
 * @example
 * ```ts
 * import { createSubjectKeys } from "./subject_keys.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const resolveKey = createSubjectKeys();
 * const id = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * const key = await resolveKey(`did:key:${id}#${id}`);
 * assertEquals(key.jwk.x, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik");
 * ```
 *
 * @throws {SigError} from the resolver: `invalid_header`, `invalid_key` for a
 * did:key that is none; `unsupported_did_method` for other methods; whatever
 * `resolveSubjectKey` throws.
 */
export function createSubjectKeys(
  options: SubjectKeysOptions = {},
): LoginKeyResolver {
  const { resolveSubjectKey, maxKeys = DEFAULT_MAX_KEYS } = options;
  const known = new Map<string, VerificationKey>();
  return async (kid, challengeId) => {
    if (kid.startsWith("did:web:") && resolveSubjectKey !== undefined) {
      const [did = ""] = kid.split("#", 1);
      return await resolveSubjectKey(did, kid, challengeId);
    }
    const found = known.get(kid);
    const key = found ?? await importDidKey(kid);
    known.delete(kid);
    known.set(kid, key);
    const oldest = known.keys().next().value;
    if (known.size > maxKeys && oldest !== undefined) known.delete(oldest);
    return key;
  };
}

/** `node:crypto` takes one call, where WebCrypto takes two that wait. */
async function importDidKey(kid: string): Promise<VerificationKey> {
  try {
    return await resolveDidKey(kid, { backend: "node" });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return await resolveDidKey(kid);
  }
}
