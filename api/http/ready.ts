/** Whether what a service depends on answers: its stores and its issuers. @module */

import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, locateIssuer } from "@sig/consumer/internal";
import type { RecordStore } from "@sig/consumer/store";
import { DEFAULT_LIMITS, isSigError } from "@sig/core";

/** What a service depends on. */
export interface ReadinessOptions extends FetchPolicy {
  /** The stores by name, such as `pins`; undefined for one that is not configured. */
  readonly stores: { readonly [name: string]: RecordStore | undefined };
  /** The issuers of the list, as `createConsumer` takes them. */
  readonly issuers: readonly string[];
  /** The clock. */
  readonly now: () => Date;
}

/** The result of a check: `ok`, or the code of the error. */
export interface Readiness {
  /** All stores answer, and one of the issuers does, if there are any. */
  readonly isReady: boolean;
  /** By the name of the store. */
  readonly stores: { readonly [name: string]: string };
  /** By the DID of each issuer that was asked. */
  readonly issuers: { readonly [did: string]: string };
}

/** Milliseconds for which an answer is kept. */
const KEPT_MS = 5_000;
/** Milliseconds that all issuers together have. */
const TIMEOUT_MS = 4_000;
/** Issuers that are asked at a time, until one answers. */
const AT_A_TIME = 8;

/**
 * Makes the check of what a service depends on. However often it is called, the
 * stores and issuers are asked once in 5 s; of an issuer only its `sig.json`.
 */
export function createReadiness(
  options: ReadinessOptions,
): () => Promise<Readiness> {
  const { now } = options;
  let kept: Promise<Readiness> | undefined;
  let doneAtMs: number | undefined;
  return () => {
    const isOld = doneAtMs !== undefined &&
      Math.abs(now().getTime() - doneAtMs) >= KEPT_MS;
    if (kept === undefined || isOld) {
      doneAtMs = undefined;
      kept = check(options).finally(() => doneAtMs = now().getTime());
    }
    return kept;
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
    askIssuers(options),
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

/** Asks the issuers until one of them answers. */
async function askIssuers(
  options: ReadinessOptions,
): Promise<{ readonly [did: string]: string }> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(LATE), TIMEOUT_MS);
  const policy = { ...fetchPolicyOf(options), signal: stop.signal };
  const outcomes: { [did: string]: string } = {};
  const left = options.issuers.values();
  const { maxMetadataBytes: maxBytes } = DEFAULT_LIMITS;
  await Promise.all(Array.from({ length: AT_A_TIME }, async () => {
    for (const text of left) {
      if (stop.signal.aborted) return;
      const { reader, metadataRef, expectedIssuer } = locateIssuer(
        text,
        policy,
      );
      const asked = reader.open(metadataRef, { name: "metadata", maxBytes });
      const outcome = await outcomeOf(asked.then((found) => found.cancel()));
      if (outcome === "left") return;
      outcomes[expectedIssuer] = outcome;
      if (outcome === "ok") stop.abort(ANSWERED);
    }
  }));
  clearTimeout(timer);
  return outcomes;
}

/** Why the remaining issuers are not asked. */
const LATE = Symbol("late");
const ANSWERED = Symbol("answered");

async function outcomeOf(asked: unknown): Promise<string> {
  try {
    await asked;
    return "ok";
  } catch (error) {
    if (error === ANSWERED) return "left";
    if (error === LATE) return "fetch_timeout";
    return isSigError(error) ? error.code : "internal";
  }
}
