/** Resolves the `kid` of an attestation to the subject's key. @module */

import { Quota } from "@sig/api/internal/http";
import { type FetchPolicy, fetchSubjectKey } from "@sig/consumer";
import { subjectDocumentUrl } from "@sig/consumer/internal";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { resolveDidKey, type VerificationKey } from "@sig/jose";

/**
 * Returns the key for the `kid` of an attestation, or throws.
 *
 * @param client The network address of the client, for its quota of fetches
 * (default: no quota).
 * @param challengeId The challenge of the attestation, of which only one attempt
 * at a time may fetch (default: no such limit).
 */
export type LoginKeyResolver = (
  kid: string,
  client?: string,
  challengeId?: string,
) => VerificationKey | Promise<VerificationKey>;

/** Maximum number of cached did:key keys. */
const MAX_KEYS = 1_024;

/** Maximum number of concurrent fetches of DID documents. */
const MAX_FETCHES = 64;
/**
 * A quarter of the total, so that hanging hosts in one client's logins do not
 * block other subjects.
 */
const MAX_FETCHES_OF_CLIENT = 16;
/**
 * Maximum number of concurrent fetches from one host. A client fetches one
 * document of a host at a time, so it can't block the other subjects of an
 * organisation.
 */
const MAX_FETCHES_OF_HOST = 16;

/**
 * Timeout of a subject's did.json in milliseconds; a person is waiting for it.
 */
const TIMEOUT_MS = 5_000;

/**
 * Creates a resolver, which a server uses for all logins. A did:key contains
 * its key, so nothing is fetched; imported keys are cached, and the least
 * recently used one is evicted first. The document of a did:web is fetched for
 * each attestation, so that removing a key takes effect immediately; concurrent
 * logins by the same key share a fetch. Concurrent fetches are limited to 16
 * from one host, 16 for one client, and 64 in total. A client's fetches from one
 * host take turns, and a challenge has one fetch at a time.
 *
 * A document that can't be fetched or parsed is `key_unresolvable`: retrying
 * may help, and no failure is counted. A document that does not list the key
 * under `authentication` is `attestation_signature_invalid`, which counts as a
 * failure.
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
 * @param policy The policy of fetches of did:web documents, with a timeout of
 * at most 5 seconds (default: did:web is rejected).
 * @throws {SigError} from the resolver: `invalid_header`, `invalid_key` for a
 * malformed DID; `unsupported_did_method`; for did:web `key_unresolvable` (with
 * `context.reason`), `overloaded`, `attestation_signature_invalid`,
 * `address_not_allowed`.
 */
export function createSubjectKeys(policy?: FetchPolicy): LoginKeyResolver {
  const fetchKey = policy && createFetch(policy);
  const known = new Map<string, VerificationKey>();
  return async (kid, client, challengeId) => {
    if (fetchKey !== undefined && kid.startsWith("did:web:")) {
      return await fetchKey(kid, client, challengeId);
    }
    // One synchronous call of `node:crypto` instead of two asynchronous ones of
    // WebCrypto.
    const key = known.get(kid) ?? await resolveDidKey(kid, { backend: "node" });
    known.delete(kid);
    known.set(kid, key);
    const oldest = known.keys().next().value;
    if (known.size > MAX_KEYS && oldest !== undefined) known.delete(oldest);
    return key;
  };
}

/**
 * Returns a resolver that fetches within the limits. An `overloaded` error does
 * not count as a failure.
 */
function createFetch(policy: FetchPolicy): LoginKeyResolver {
  const totalTimeoutMs = Math.min(
    policy.totalTimeoutMs ?? Infinity,
    TIMEOUT_MS,
  );
  const hosts = new Quota(MAX_FETCHES, MAX_FETCHES_OF_HOST);
  const clients = new Quota(Infinity, MAX_FETCHES_OF_CLIENT);
  const challenges = new Quota(Infinity, 1);
  const running = new Map<string, Promise<VerificationKey>>();
  const takeTurns = createQueues();

  async function fetchOnce(kid: string, did: string, host: string) {
    using taken = new DisposableStack();
    take(taken, did, hosts, host);
    const fetching = fetchSubjectKey(kid, { ...policy, totalTimeoutMs });
    running.set(kid, fetching);
    taken.defer(() => running.delete(kid));
    return await fetching;
  }

  return async (kid, client, challengeId) => {
    const known = running.get(kid);
    if (known !== undefined) return await known;
    const [did = ""] = kid.split("#", 1);
    const { host } = new URL(subjectDocumentUrl(did, policy));
    using taken = new DisposableStack();
    if (challengeId !== undefined) take(taken, did, challenges, challengeId);
    if (client === undefined) return await fetchOnce(kid, did, host);
    take(taken, did, clients, client);
    return await takeTurns(
      `${client} ${host}`,
      () => running.get(kid) ?? fetchOnce(kid, did, host),
    );
  };
}

/**
 * Takes one unit of a quota until the stack is disposed.
 *
 * @throws {SigError} `overloaded`
 */
function take(
  taken: DisposableStack,
  did: string,
  quota: Quota,
  owner: string,
): void {
  if (!quota.take(owner)) throw overloaded(did);
  taken.defer(() => quota.release(owner));
}

/** Returns a function that runs the work of each queue one after the other. */
function createQueues() {
  const last = new Map<string, Promise<unknown>>();
  return async <T>(queue: string, work: () => Promise<T>): Promise<T> => {
    const before = last.get(queue);
    const mine = before === undefined ? work() : before.then(work, work);
    last.set(queue, mine);
    try {
      return await mine;
    } finally {
      if (last.get(queue) === mine) last.delete(queue);
    }
  };
}

function overloaded(did: string): SigError {
  return new SigError("overloaded", {
    action: `get the keys of ${quote(did)}`,
    reason: "too many DID documents are being fetched",
    context: {
      // The maximum duration of a fetch, after which capacity is free again.
      retry_after_seconds: TIMEOUT_MS / 1000,
      hint: "Send the same attestation again in a moment.",
    },
  });
}
