/** Checks whether a service's dependencies, its stores and issuers, answer. @module */

import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, locateIssuer } from "@sig/consumer/internal";
import type { RecordStore } from "@sig/consumer/store";
import { DEFAULT_LIMITS, isSigError } from "@sig/core";

/** The dependencies of a service. */
export interface ReadinessOptions extends FetchPolicy {
  /** The stores by name, such as `pins`; undefined if not configured. */
  readonly stores: { readonly [name: string]: RecordStore | undefined };
  /** The listed issuers, as in `createConsumer`. */
  readonly issuers: readonly string[];
  /** Returns the current time. */
  readonly now: () => Date;
}

/** The results of a check; each is `ok` or an error code. */
export interface Readiness {
  /** Whether all stores answer, and at least one issuer if there are any. */
  readonly isReady: boolean;
  /** The results by the name of the store. */
  readonly stores: { readonly [name: string]: string };
  /** The results by the DID of each issuer that was queried. */
  readonly issuers: { readonly [did: string]: string };
}

/** How long an outcome is cached, in milliseconds. */
const CACHE_MS = 5_000;
/** Timeout for all issuers together, in milliseconds. */
const TIMEOUT_MS = 4_000;
/** Number of issuers that are queried concurrently, until one answers. */
const MAX_CONCURRENT = 8;

/**
 * Creates the check of a service's dependencies. Results are cached for 5 s; of
 * an issuer only `sig.json` is fetched.
 */
export function createReadiness(
  options: ReadinessOptions,
): () => Promise<Readiness> {
  return onceInFiveSeconds(() => check(options), options.now);
}

/**
 * Returns a function that does the work at most once in five seconds; in
 * between, it returns the last outcome, also if that is an error.
 */
export function onceInFiveSeconds<T>(
  work: () => Promise<T>,
  now: () => Date,
): () => Promise<T> {
  let cached: Promise<T> | undefined;
  let doneAtMs: number | undefined;
  return () => {
    const isOld = doneAtMs !== undefined &&
      Math.abs(now().getTime() - doneAtMs) >= CACHE_MS;
    if (cached === undefined || isOld) {
      doneAtMs = undefined;
      cached = work().finally(() => doneAtMs = now().getTime());
    }
    return cached;
  };
}

async function check(options: ReadinessOptions): Promise<Readiness> {
  const stores = Object.entries(options.stores).map(async ([name, store]) =>
    [
      name,
      await outcomeOf(store?.get({ name: "ready" }, "ready", options.now())),
    ] as const
  );
  const [issuers, ...found] = await Promise.all([
    queryIssuers(options),
    ...stores,
  ]);
  const answers = Object.values(issuers);
  return {
    isReady: found.every(([, outcome]) => outcome === "ok") &&
      (answers.length === 0 || answers.includes("ok")),
    stores: Object.fromEntries(found),
    issuers,
  };
}

/** Queries the issuers until one of them answers. */
async function queryIssuers(
  options: ReadinessOptions,
): Promise<{ readonly [did: string]: string }> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(LATE), TIMEOUT_MS);
  const policy = { ...fetchPolicyOf(options), signal: stop.signal };
  const outcomes: { [did: string]: string } = {};
  const left = options.issuers.values();
  const { maxMetadataBytes: maxBytes } = DEFAULT_LIMITS;
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, async () => {
    for (const text of left) {
      if (stop.signal.aborted) return;
      const { reader, metadataRef, expectedIssuer } = locateIssuer(
        text,
        policy,
      );
      const fetching = reader.open(metadataRef, { name: "metadata", maxBytes });
      const outcome = await outcomeOf(fetching.then((found) => found.cancel()));
      if (outcome === "left") return;
      outcomes[expectedIssuer] = outcome;
      if (outcome === "ok") stop.abort(ANSWERED);
    }
  }));
  clearTimeout(timer);
  return outcomes;
}

/** Why the remaining issuers are not queried. */
const LATE = Symbol("late");
const ANSWERED = Symbol("answered");

async function outcomeOf(fetching: unknown): Promise<string> {
  try {
    await fetching;
    return "ok";
  } catch (error) {
    if (error === ANSWERED) return "left";
    if (error === LATE) return "fetch_timeout";
    return isSigError(error) ? error.code : "internal";
  }
}
