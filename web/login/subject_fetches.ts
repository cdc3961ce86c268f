/** How much may be fetched at the word of those who log in. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";

/** Limits of {@linkcode createSubjectFetches}. */
export interface SubjectFetchLimits {
  /** Fetches under way; 64 unless told. */
  readonly maxInFlight?: number | undefined;
  /** Fetches under way from one host; 4 unless told. */
  readonly maxPerHost?: number | undefined;
  /** Fetches for one challenge; 3 unless told. */
  readonly maxPerChallenge?: number | undefined;
}

/** What a fetch is for. */
export interface SubjectFetch {
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
 * import { createSubjectFetches } from "./subject_fetches.ts";
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
