/** From the `kid` of an attestation to the subject's key. @module */

import { type FetchPolicy, fetchSubjectKey } from "@sig/consumer";
import { fetchDocument, subjectDocumentUrl } from "@sig/consumer/internal";
import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { resolveDidKey, type VerificationKey } from "@sig/jose";

/** Default of how many did:key keys are remembered. */
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
  /** Imported did:key keys to remember (default: 1,024). */
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
 * import { createSubjectKeys } from "./subject_key.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const resolveKey = createSubjectKeys();
 * const id = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * const key = await resolveKey(`did:key:${id}#${id}`);
 * assertEquals(key.jwk.x, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik");
 * ```
 *
 * @throws {SigError} from the resolver: `invalid_header`, `invalid_key` for a
 * malformed did:key; `unsupported_did_method` for other methods; whatever
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

/**
 * Gets one document over https, with every guard that fetching at a stranger's
 * word needs (docs/protocol.md §10): public addresses only, no redirects, limits on
 * bytes and time. What keeps it from that is a `SigError`.
 */
export type FetchDocument = (
  url: string,
  options: { readonly maxBytes: number },
) => Promise<Uint8Array>;

/** What {@linkcode createSubjectResolver} needs. */
interface SubjectResolverOptions {
  /** Gets the DID document; who may be asked is for it to say. */
  readonly fetchDocument: FetchDocument;
  /** Read IP addresses and `localhost` as `http://`: for tests only. */
  readonly allowPrivate?: boolean;
  /** How many documents are fetched at once, and for one challenge. */
  readonly limits?: SubjectFetchLimits;
}

/**
 * Makes the way to the keys of did:web subjects. The document is fetched for
 * each attestation, so a key that was taken out of it counts no more; for one
 * challenge three times at most, and from one host four at a time (see
 * `createSubjectFetches`).
 *
 * What can't be got or read is `key_unresolvable`: nothing is known against the
 * subject, and trying again may help. A document that was read and does not
 * list the key under `authentication` is an answer: the signature is not the
 * subject's, `attestation_signature_invalid`, which counts as a failure.
 *
 * @example
 * ```ts
 * import { createSubjectResolver } from "./subject_key.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const did = "did:web:alice.example";
 * const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
 * const document = {
 *   id: did,
 *   authentication: [{
 *     id: `${did}#key-1`,
 *     type: "JsonWebKey2020",
 *     controller: did,
 *     publicKeyJwk: { kty: "OKP", crv: "Ed25519", x },
 *   }],
 * };
 * const resolve = createSubjectResolver({
 *   fetchDocument: () =>
 *     Promise.resolve(new TextEncoder().encode(JSON.stringify(document))),
 * });
 * assertEquals((await resolve(did, `${did}#key-1`)).jwk.x, x);
 * ```
 *
 * @throws {SigError} from what it returns: `key_unresolvable` (with
 * `context.reason`), `overloaded`, `attestation_signature_invalid`,
 * `invalid_header` for a malformed did:web, `address_not_allowed`,
 * `invalid_key`.
 */
export function createSubjectResolver(
  options: SubjectResolverOptions,
): ResolveSubjectKey {
  const run = createSubjectFetches(options.limits);
  return async (did, kid, challengeId): Promise<VerificationKey> => {
    const { host } = new URL(subjectDocumentUrl(did, options));
    return await run(
      { did, host, challengeId },
      () => fetchSubjectKey(kid, options),
    );
  };
}

/** Limits of {@linkcode createSubjectFetches}. */
interface SubjectFetchLimits {
  /** Fetches under way (default: 64). */
  readonly maxInFlight?: number | undefined;
  /** Fetches under way from one host (default: 4). */
  readonly maxPerHost?: number | undefined;
  /** Fetches for one challenge (default: 3). */
  readonly maxPerChallenge?: number | undefined;
}

/** What a fetch is for. */
interface SubjectFetch {
  /** The subject. */
  readonly did: string;
  /** Host and port of its document. */
  readonly host: string;
  /** The challenge that is answered; undefined outside of a login. */
  readonly challengeId: string | undefined;
}

/** Challenges whose fetches are remembered; the oldest is forgotten first. */
const MAX_CHALLENGES = 10_000;

/** As long as a fetch takes at most: then there is a place for certain. */
const RETRY_AFTER_SECONDS = 5;

/**
 * Makes what runs the fetches of documents that strangers name. A server that
 * never answers holds a few places here, not those of all other logins; and one
 * challenge is not worth many requests to somebody else's server. A refusal
 * says nothing of the subject, so it is not counted against the challenge.
 *
 * @example
 * ```ts
 * import { createSubjectFetches } from "./subject_key.ts";
 * import { SigError } from "@sig/core";
 * import { assertEquals, assertRejects } from "@std/assert";
 *
 * const run = createSubjectFetches({ maxPerChallenge: 1 });
 * const fetch = {
 *   did: "did:web:alice.example",
 *   host: "alice.example",
 *   challengeId: "c-1",
 * };
 * assertEquals(await run(fetch, () => Promise.resolve("document")), "document");
 * await assertRejects(
 *   () => run(fetch, () => Promise.resolve("document")),
 *   SigError,
 *   "its DID document was fetched 1 times for this challenge",
 * );
 * ```
 *
 * @throws {SigError} from the function, before the work begins:
 * `key_unresolvable` (`context.reason` `rate_limited`) for a challenge that has
 * had its fetches; `overloaded` with `context.retry_after_seconds`.
 */
export function createSubjectFetches(
  limits: SubjectFetchLimits = {},
): <T>(fetch: SubjectFetch, work: () => Promise<T>) => Promise<T> {
  const { maxInFlight = 64, maxPerHost = 4, maxPerChallenge = 3 } = limits;
  const hosts = new Map<string, number>();
  const challenges = new Map<string, number>();
  let inFlight = 0;
  return async ({ did, host, challengeId }, work) => {
    const before = challenges.get(challengeId ?? "") ?? 0;
    if (before >= maxPerChallenge) throw spent(did, maxPerChallenge);
    const ofHost = hosts.get(host) ?? 0;
    if (inFlight >= maxInFlight || ofHost >= maxPerHost) throw overloaded(did);
    if (challengeId !== undefined) {
      challenges.set(challengeId, before + 1);
      const oldest = challenges.keys().next().value;
      if (challenges.size > MAX_CHALLENGES && oldest !== undefined) {
        challenges.delete(oldest);
      }
    }
    inFlight++;
    hosts.set(host, ofHost + 1);
    try {
      return await work();
    } finally {
      inFlight--;
      const left = (hosts.get(host) ?? 1) - 1;
      if (left > 0) hosts.set(host, left);
      else hosts.delete(host);
    }
  };
}

function spent(did: string, limit: number): SigError {
  return new SigError(
    "key_unresolvable",
    `Cannot get the keys of ${
      quote(did)
    }: its DID document was fetched ${limit} times for this challenge`,
    {
      context: {
        reason: "rate_limited",
        limit,
        hint: "Create a new challenge and sign that.",
      },
    },
  );
}

function overloaded(did: string): SigError {
  return new SigError(
    "overloaded",
    `Cannot get the keys of ${
      quote(did)
    }: too many DID documents are being fetched`,
    {
      context: {
        retry_after_seconds: RETRY_AFTER_SECONDS,
        hint: "Send the same attestation again in a moment.",
      },
    },
  );
}

/** Milliseconds for a subject's did.json in all: a person waits for it. */
export const SUBJECT_TIMEOUT_MS = 5_000;

/**
 * Makes what finds the key of a login over the network.
 *
 * @param totalTimeoutMs For one document, in place of the policy's own.
 * @throws {SigError} from what it returns: as `createSubjectResolver`.
 */
export function createFetchedSubjectKeys(
  policy: FetchPolicy,
  totalTimeoutMs: number = SUBJECT_TIMEOUT_MS,
): LoginKeyResolver {
  return createSubjectKeys({
    resolveSubjectKey: createSubjectResolver({
      fetchDocument: (url, { maxBytes }) =>
        fetchDocument(url, { ...policy, maxBytes, totalTimeoutMs }),
      allowPrivate: policy.allowPrivate ?? false,
    }),
  });
}
