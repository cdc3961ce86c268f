/** Observes an issuer by proof while its feed is not loaded (docs/protocol.md §13.3). @module */

import { DEFAULT_LIMITS, type Warning } from "@sig/core";
import type { KnownIssuer } from "./listed_issuers.ts";
import {
  acceptFailure,
  acceptProof,
  type IssuerRecord,
  isUnusable,
  type Observation,
  RefreshFailure,
} from "../memory/issuer_record.ts";
import {
  type IssuerMemory,
  type MemoryOptions,
  policyOf,
} from "../memory/memory.ts";
import type { StatePart } from "../memory/partial_history.ts";
import { shortenKids } from "../memory/pin.ts";
import type { OpenOptions } from "../read/reader.ts";
import { waitAtMost } from "./shared_refresh.ts";
import {
  type ProofQuestion,
  provableQuestion,
  type Proven,
  readByProof,
  type Unproven,
} from "./read_by_proof.ts";

/**
 * Approximate size of a read by proof. A process that has fetched as many bytes
 * as the feed has loads the feed.
 */
const BYTES_OF_A_READ = 32 * 1024;

/** Runs work that waits for an issuer (by its DID), or throws. */
export type WaitFor = <T>(issuer: string, work: () => Promise<T>) => Promise<T>;

/** The default of `ObserveOptions.waitFor`. */
export const runImmediately: WaitFor = (_issuer, work) => work();

export interface ProofObserving extends MemoryOptions {
  /** When the question arrived. */
  readonly at: Date;
  readonly full?: boolean | undefined;
  readonly proofs?: "until_loaded" | "always" | "never" | undefined;
  readonly requirePin?: boolean | undefined;
  readonly waitFor?: WaitFor | undefined;
  readonly refresh?: boolean | undefined;
  readonly refreshAhead?: boolean | undefined;
}

/**
 * Returns the part of an issuer that a question needs. Without an observation,
 * the caller must read the feed; `warning` is the reason why a proof was not
 * used.
 *
 * @param memory The stored memory to update, if any.
 * @throws {SigError} if the issuer can't be read, and contradictions.
 * @throws {HistoryMoved}
 */
export async function observeByProof(
  issuer: KnownIssuer,
  memory: IssuerMemory | undefined,
  part: StatePart,
  options: ProofObserving,
): Promise<{ readonly observation?: Observation; readonly warning?: Warning }> {
  const question = provableQuestion(part, options);
  if (question === undefined || !mayProve(issuer, options)) return {};
  const { at, waitFor = runImmediately } = options;
  const { record, location: { expectedIssuer } } = issuer;
  const note = async (change: (record: IssuerRecord) => IssuerRecord) => {
    if (!issuer.isListed) return;
    // The stored pin is the one that was compared; in memory, a concurrent
    // refresh may have stored a newer record.
    const written = await memory?.replace(change(record).known!, record, at);
    issuer.record = { ...change(issuer.record), ...written };
  };
  let found: Proven | Unproven | undefined;
  try {
    found = await waitFor(
      expectedIssuer,
      () => readInTime(issuer, question, options),
    );
  } catch (error) {
    if (!(error instanceof RefreshFailure)) throw error;
    await note((record) => acceptFailure(record, error, at));
    throw error.cause;
  }
  if (found === undefined || "loaded" in found) return found ?? {};
  const { verified, memory: proof } = found;
  const stored = { ...proof, keys: await shortenKids(proof.keys) };
  await note((record) =>
    acceptProof(record, stored, {
      issuer: expectedIssuer,
      place: issuer.location.metadataRef,
      source: verified.source === "http" ? "http" : "https",
      public_only: true,
      policy: policyOf(options),
      compared_at: proof.last_seen,
    })
  );
  issuer.proofReads++;
  issuer.feedBytes = verified.feed.bytes;
  const continuity = record.known === undefined ? "first_seen" : "consistent";
  return {
    observation: {
      observedAt: at,
      continuity: issuer.isListed ? continuity : "unpinned",
      verified,
    },
  };
}

/**
 * Returns whether the feed should be loaded: reads by proof have transferred as
 * much.
 */
export function isDueToLoad(
  { record, proofReads, feedBytes = Infinity }: KnownIssuer,
  { proofs = "until_loaded", limits = DEFAULT_LIMITS }: Pick<
    ProofObserving,
    "limits" | "proofs"
  >,
): boolean {
  return proofs === "until_loaded" && record.held === undefined &&
    feedBytes <= limits.maxFeedBytes &&
    proofReads * BYTES_OF_A_READ > feedBytes;
}

function mayProve(issuer: KnownIssuer, options: ProofObserving): boolean {
  const { record } = issuer;
  const { full, proofs, refresh, refreshAhead, requirePin } = options;
  const isUnasked = proofs === "never" || full || refresh === false;
  const isMissing = requirePin && record.text === undefined;
  // With `refreshAhead` the feed is loaded in the background.
  const isDue = refreshAhead === false && isDueToLoad(issuer, options);
  const isLoaded = proofs !== "always" && record.held !== undefined || isDue;
  const pin = record.known?.pin;
  const isWithoutProof = pin !== undefined && pin.proof === undefined;
  return !isUnasked && !isMissing && !isLoaded &&
    !isWithoutProof && !isUnusable(record);
}

async function readInTime(
  issuer: KnownIssuer,
  question: ProofQuestion,
  options: ProofObserving,
): Promise<Proven | Unproven | undefined> {
  const pin = issuer.record.known?.pin;
  const location = await issuer.locateProofs();
  if (location === undefined) return undefined;
  const { reader } = location;
  return await waitAtMost(issuer.maxWaitMs, (signal) => {
    const inTime = {
      kind: reader.kind,
      open: (ref: string, asked: OpenOptions) =>
        reader.open(ref, { ...asked, signal }),
    };
    const read = { ...options, now: options.at, pin };
    return readByProof({ ...location, reader: inTime }, question, read);
  });
}
