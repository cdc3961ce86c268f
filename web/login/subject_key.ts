/** From the `kid` of an attestation to the subject's key. @module */

import { Quota } from "@sig/api/http";
import { type FetchPolicy, fetchSubjectKey } from "@sig/consumer";
import { subjectDocumentUrl } from "@sig/consumer/internal";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { resolveDidKey, type VerificationKey } from "@sig/jose";

/**
 * Finds the key that the `kid` of an attestation names, or throws.
 *
 * @param client The network address of who sent the attestation, which limits
 * how many documents are fetched for it (default: no limit of its own).
 */
export type LoginKeyResolver = (
  kid: string,
  client?: string,
) => VerificationKey | Promise<VerificationKey>;

/** Imported did:key keys that are remembered. */
const MAX_KEYS = 1_024;

/** DID documents that are fetched at a time, in all. */
const MAX_FETCHES = 64;
/** A quarter: silent hosts that one client names keep out no other subjects. */
const MAX_FETCHES_OF_CLIENT = 16;
/** From one host. */
const MAX_FETCHES_OF_HOST = 4;

/** Milliseconds for a subject's did.json in all: a person waits for it. */
const TIMEOUT_MS = 5_000;

/**
 * Makes the resolver that a server keeps. A did:key is its own key, so it is
 * never fetched, and the imported key of one that comes again is remembered,
 * least recently used out first. The document of a did:web is fetched for each
 * attestation, so a key that was taken out of it counts no more; of one host
 * four at a time, of one client 16, and 64 in all.
 *
 * What can't be got or read is `key_unresolvable`: nothing is known against the
 * subject, and trying again may help. A document that was read and does not
 * list the key under `authentication` is an answer: the signature is not the
 * subject's, `attestation_signature_invalid`, which counts as a failure.
 *
 * @example
 * ```ts
 * import { createSubjectKeys } from "./subject_key.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const resolveKey = createSubjectKeys();
 * const id = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * const key = await resolveKey(`did:key:${id}#${id}`);
 * assertEquals(key.jwk.x, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik");
 * ```
 *
 * @param policy How did:web documents are fetched, for 5 seconds at most;
 * without it did:web can't log in.
 * @throws {SigError} from the resolver: `invalid_header`, `invalid_key` for a
 * malformed DID; `unsupported_did_method`; for did:web `key_unresolvable` (with
 * `context.reason`), `overloaded`, `attestation_signature_invalid`,
 * `address_not_allowed`.
 */
export function createSubjectKeys(policy?: FetchPolicy): LoginKeyResolver {
  const fetchKey = policy && createFetch(policy);
  const known = new Map<string, VerificationKey>();
  return async (kid, client) => {
    if (fetchKey !== undefined && kid.startsWith("did:web:")) {
      return await fetchKey(kid, client);
    }
    // By one call of `node:crypto`, where WebCrypto takes two that wait.
    const key = known.get(kid) ?? await resolveDidKey(kid, { backend: "node" });
    known.delete(kid);
    known.set(kid, key);
    const oldest = known.keys().next().value;
    if (known.size > MAX_KEYS && oldest !== undefined) known.delete(oldest);
    return key;
  };
}

/** Refused for want of a place, nothing is said of the subject or counted. */
function createFetch(policy: FetchPolicy): LoginKeyResolver {
  const totalTimeoutMs = Math.min(
    policy.totalTimeoutMs ?? Infinity,
    TIMEOUT_MS,
  );
  const clients = new Quota(MAX_FETCHES, MAX_FETCHES_OF_CLIENT);
  const hosts = new Quota(Infinity, MAX_FETCHES_OF_HOST);
  return async (kid, client) => {
    const [did = ""] = kid.split("#", 1);
    const { host } = new URL(subjectDocumentUrl(did, policy));
    const [owner, each] = client === undefined
      ? ["", MAX_FETCHES]
      : [client, MAX_FETCHES_OF_CLIENT];
    if (!hosts.take(host)) throw overloaded(did);
    try {
      if (!clients.take(owner, 1, each)) throw overloaded(did);
      try {
        return await fetchSubjectKey(kid, { ...policy, totalTimeoutMs });
      } finally {
        clients.release(owner);
      }
    } finally {
      hosts.release(host);
    }
  };
}

function overloaded(did: string): SigError {
  return new SigError(
    "overloaded",
    `Cannot get the keys of ${
      quote(did)
    }: too many DID documents are being fetched`,
    {
      context: {
        // As long as a fetch takes at most: then there is a place for certain.
        retry_after_seconds: TIMEOUT_MS / 1000,
        hint: "Send the same attestation again in a moment.",
      },
    },
  );
}
