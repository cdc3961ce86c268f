/** Observing an issuer whose feed is not loaded, by proof (docs/protocol.md §13.3). @module */

import { DEFAULT_LIMITS, type Warning } from "@sig/core";
import { formatInstant, instantOf } from "@sig/core";
import type { KnownIssuer } from "./listed_issuers.ts";
import {
  acceptFailure,
  acceptProof,
  type IssuerRecord,
  isUnusable,
  type Observation,
  type StatePart,
} from "../memory/issuer_record.ts";
import { type IssuerMemory, policyOf } from "../memory/memory.ts";
import { HistoryMoved, type PinRules, shortenKids } from "../memory/pin.ts";
import type { IssuerLocation } from "../read/reader.ts";
import type { ProvenLocation } from "../read/source.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import { waitedTooLong } from "./shared_refresh.ts";
import type { ProofPolicy } from "../proofs/proof_policy.ts";
import {
  type Contradicted,
  provableQuestion,
  type Proven,
  readByProof,
} from "./read_by_proof.ts";

/**
 * About what one read by proof fetches. Once a process has fetched as much as
 * the feed has, it loads the feed.
 */
const BYTES_OF_A_READ = 32 * 1024;

/** Options of {@linkcode observeByProof}. */
export interface ObserveByProofOptions extends LoadIssuerOptions {
  /** When the question was asked. */
  readonly at: Date;
  /** What the checkpoint must have. */
  readonly checkpointPolicy?: ProofPolicy | undefined;
  /** Also where the feed is loaded. */
  readonly always: boolean;
  /** Does the work of asking the issuer (by its DID), or throws. */
  readonly waitFor: <T>(issuer: string, work: () => Promise<T>) => Promise<T>;
  /** Writes what was seen. */
  readonly memory: IssuerMemory | undefined;
}

/**
 * The issuer as far as a question needs it; else the feed is to be read, and
 * `warning` says why a proof was not used.
 *
 * @throws {SigError} why the issuer can't be asked, and contradictions.
 * @throws {HistoryMoved}
 */
export async function observeByProof(
  issuer: KnownIssuer,
  part: StatePart,
  options: ObserveByProofOptions,
): Promise<{ readonly observation?: Observation; readonly warning?: Warning }> {
  const { at, memory, always, limits = DEFAULT_LIMITS } = options;
  const { record, feedBytes = Infinity } = issuer;
  const pin = record.known?.pin;
  const question = provableQuestion(part);
  const isDue = feedBytes <= limits.maxFeedBytes &&
    issuer.proofReads * BYTES_OF_A_READ > feedBytes;
  const isLoaded = !always && (record.held !== undefined || isDue);
  if (question === undefined || isLoaded || isUnusable(record)) return {};
  if (pin !== undefined && pin.proof === undefined) return {};
  const { expectedIssuer } = issuer.location;
  const found = await options.waitFor(
    expectedIssuer,
    () =>
      within(
        issuer,
        (location) =>
          readByProof(location, question, { ...options, now: at, pin }),
      ),
  );
  if (found === undefined) return {};
  if (found.verified === undefined && found.error === undefined) return found;
  if (issuer.isListed) {
    // What was compared is what is written over; a refresh may have learnt more.
    const note = await noting(issuer.location, found, options);
    const written = await memory?.replace(note(record).known!, record, at);
    if (memory !== undefined && written === undefined) throw new HistoryMoved();
    issuer.record = { ...note(issuer.record), ...written };
  }
  if (found.error !== undefined) throw found.error;
  issuer.proofReads++;
  issuer.feedBytes = found.verified.feed.bytes;
  return {
    observation: {
      observedAt: at,
      observedAtText: formatInstant(instantOf(at)),
      continuity: !issuer.isListed
        ? "unpinned"
        : pin === undefined
        ? "first_seen"
        : "consistent",
      verified: found.verified,
    },
  };
}

/** Adds what was found to a record. */
async function noting(
  { expectedIssuer: issuer, metadataRef: place }: ProvenLocation,
  found: Proven | Contradicted,
  options: ObserveByProofOptions,
): Promise<(record: IssuerRecord) => IssuerRecord> {
  if (found.error !== undefined) {
    return (record) => acceptFailure(record, found, options.at);
  }
  const { memory, verified: { source } } = found;
  const proof = { ...memory, keys: await shortenKids(memory.keys) };
  const rules: PinRules = {
    place,
    source: source === "http" ? "http" : "https",
    public_only: true,
    policy: policyOf(options),
    compared_at: memory.last_seen,
  };
  return (record) => acceptProof(record, proof, { issuer, ...rules });
}

/** Reads where the proofs are, within the time that a question may wait. */
async function within<T>(
  issuer: KnownIssuer,
  read: (location: IssuerLocation) => Promise<T>,
): Promise<T | undefined> {
  const location = await issuer.locateProofs();
  if (location === undefined) return undefined;
  const { reader } = location;
  const { maxWaitMs } = issuer;
  const late = new AbortController();
  const { signal } = late;
  const timer = setTimeout(
    () => late.abort(waitedTooLong(maxWaitMs)),
    maxWaitMs,
  );
  try {
    const found = await read({
      ...location,
      reader: {
        kind: reader.kind,
        open: (ref, asked) => reader.open(ref, { ...asked, signal }),
      },
    });
    signal.throwIfAborted();
    return found;
  } finally {
    clearTimeout(timer);
  }
}
