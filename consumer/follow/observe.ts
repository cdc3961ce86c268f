/**
 * Observes an issuer: a known state answers, or the copy on disk, or a read by
 * proof or of the feed; while the issuer can't be reached, a known state within
 * the grace.
 *
 * @module
 */

import { DEFAULT_LIMITS, isSigError, type Warning } from "@sig/core";
import type { Pin } from "../memory/pin.ts";
import { isCurrent, isYoungEnough, mayProve } from "../memory/transitions.ts";
import {
  documentFromBytes,
  type DocumentReader,
  type OpenOptions,
} from "../read/reader.ts";
import { isUnreachable, waitAtMost } from "./back_off.ts";
import {
  feedStale,
  type ProofQuestion,
  provableQuestion,
  requireReached,
  runImmediately,
  type StateScope,
  type WaitFor,
} from "./bounds.ts";
import type { KnownIssuer } from "./known_issuers.ts";
import {
  answerOf,
  currentSince,
  type Demanded,
  mayShare,
  observationOf,
  statesFor,
  warned,
} from "./known_state.ts";
import { type Observation, type RefreshOptions, timeOf } from "./reading.ts";
import { writePin } from "./refresh_issuer.ts";

/** How a question is answered. */
export interface QuestionOptions extends Omit<RefreshOptions, "now">, Demanded {
  readonly proofs?: "until_loaded" | "always" | "never" | undefined;
  readonly waitFor?: WaitFor | undefined;
  readonly refresh?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** As in `ConsumerOptions`. */
  readonly refreshAhead?: boolean | undefined;
  /** As in `ConsumerOptions`. */
  readonly oneAnswer?: boolean | undefined;
}

/**
 * Returns an observation of an issuer that meets the bounds, of the whole feed
 * or of the part that the question needs. The first of these that may answer:
 *
 * 1. a state of this process (`answerOf`),
 * 2. the copy on disk (`observeMirrored`),
 * 3. a read by proof, or of the feed (`readIssuer`), unless the issuer is
 *    backed off,
 * 4. if the issuer can't be reached, a state within the grace
 *    (`answerWhileUnreachable`).
 *
 * @throws {SigError} `feed_stale`, `consistency_unavailable`,
 * `store_unavailable`, and the error of a failed read.
 */
export async function observeIssuer(
  issuer: KnownIssuer,
  part: StateScope,
  asked: QuestionOptions,
): Promise<Observation> {
  const { keeper, did } = issuer;
  const { bounds, askedAt, signal } = asked;
  const question = provableQuestion(part, asked);
  const { pin } = await keeper.read(askedAt);
  const states = statesFor(issuer, question);
  const known = answerOf(states, keeper, pin, asked);
  if (known !== undefined) return known;
  const mirrored = await observeMirrored(issuer, pin, asked, part);
  if (mirrored !== undefined) return mirrored;
  if (asked.refresh === false) {
    throw feedStale(did, currentSince(states, pin), bounds.maxAgeMs);
  }
  const observation = await issuer.backOff.ask(
    // All requests for a question have one deadline.
    (signal) =>
      waitAtMost(
        issuer.maxWaitMs,
        signal,
        (signal) => readIssuer(issuer, part, pin, { ...asked, signal }),
      ),
    bounds.maxAgeMs === 0,
    signal,
  )
    .catch((error) => answerWhileUnreachable(error, issuer, question, asked));
  requireReached(observation, bounds.minSequence);
  return observation;
}

/**
 * Returns the state that answers although it could not be refreshed. The pin is
 * read again: a fault or a contradiction that was seen is never forgiven.
 *
 * @throws {SigError} `feed_stale`, or the error.
 */
async function answerWhileUnreachable(
  error: unknown,
  issuer: KnownIssuer,
  question: ProofQuestion | undefined,
  asked: QuestionOptions,
): Promise<Observation> {
  if (!isSigError(error) || error.category !== "unavailable") throw error;
  if (error.code === "store_unavailable") throw error;
  const { keeper, did } = issuer;
  const { askedAt, bounds } = asked;
  const { maxAgeMs, graceMs } = bounds;
  const { pin } = await keeper.read(askedAt);
  const states = statesFor(issuer, question);
  const within = { ...bounds, maxAgeMs: maxAgeMs + graceMs };
  const state = isUnreachable(error)
    ? answerOf(states, keeper, pin, { ...asked, bounds: within })
    : undefined;
  const isOld = (since: Date) => !isYoungEnough(since, askedAt, maxAgeMs);
  // Another question may have read the state since.
  if (state) return { ...state, isStale: isOld(state.observedAt) };
  const known = currentSince(states, pin) ?? mirroredAt(pin, asked);
  const isStale = known !== undefined && maxAgeMs > 0 && isOld(known);
  throw isStale ? feedStale(did, known, maxAgeMs, error) : error;
}

/**
 * Reads the issuer for a question: by proof, or else its feed, in a read that
 * other questions share unless only one answer is needed.
 */
async function readIssuer(
  issuer: KnownIssuer,
  part: StateScope,
  pin: Pin,
  asked: QuestionOptions,
): Promise<Observation> {
  const { signal, waitFor = runImmediately } = asked;
  const question = provableQuestion(part, asked);
  const proven = question && await proveAnswer(issuer, question, asked);
  const keepOnly = subjectToKeep(part, asked);
  const observation = proven?.observation ?? await waitFor(
    issuer.did,
    () =>
      keepOnly === undefined
        ? issuer.refreshes.run(mayShare(issuer, pin, asked), signal)
        : issuer.refreshFor(keepOnly, signal),
  );
  const { warning } = proven ?? {};
  return warning === undefined ? observation : warned(observation, warning);
}

/**
 * With `oneAnswer`, returns the only subject that a question needs. A question
 * about a past time depends on all earlier versions of a relationship.
 */
function subjectToKeep(
  { subjects, at }: StateScope,
  { oneAnswer }: QuestionOptions,
): string | undefined {
  const [subject, other] = new Set(subjects);
  const isOne = oneAnswer && at === null && other === undefined;
  return isOne ? subject : undefined;
}

/**
 * Approximate size of a read by proof. A process that has fetched as many bytes
 * as the feed has loads the feed.
 */
const BYTES_OF_A_READ = 32 * 1024;

/**
 * Reads the relationships of one subject by proof, if that is the way. Without
 * an observation, the feed must be read; `warning` is the reason why the proof
 * was not used.
 */
async function proveAnswer(
  issuer: KnownIssuer,
  question: ProofQuestion,
  asked: QuestionOptions,
): Promise<{
  readonly observation?: Observation;
  readonly warning?: Warning | undefined;
}> {
  const { keeper, did } = issuer;
  const { askedAt, waitFor = runImmediately } = asked;
  if (!wantsProof(issuer, asked)) return {};
  return await keeper.repeat(async () => {
    const before = await keeper.read(askedAt);
    const { pin } = before;
    // With `requirePin`, the refresh reports a missing pin.
    const isMissing = asked.requirePin && pin.status === "unknown";
    if (!mayProve(pin) || isMissing) return {};
    const found = await waitFor(
      did,
      () => readParts(issuer, pin, question, asked),
    );
    if (found === undefined) return {};
    if (found.kind === "unproven") {
      const { warning, again: reader, fault } = found;
      issuer.readAhead = { reader, fault };
      return { warning };
    }
    const after = await writePin(issuer, before, found, askedAt);
    if (after === undefined) return undefined;
    if (found.kind !== "proof") throw found.error;
    const { part } = found;
    issuer.parts.keep(part);
    return { observation: observationOf(keeper, after.pin, part) };
  });
}

/**
 * Returns whether the feed should be loaded: reads by proof have transferred as
 * much.
 */
export function isDueToLoad(
  { copy, parts: { reads, feedBytes } }: KnownIssuer,
  { proofs = "until_loaded", limits = DEFAULT_LIMITS }: Pick<
    QuestionOptions,
    "limits" | "proofs"
  >,
): boolean {
  return proofs === "until_loaded" && copy === undefined &&
    feedBytes <= limits.maxFeedBytes &&
    reads * BYTES_OF_A_READ > feedBytes;
}

function wantsProof(issuer: KnownIssuer, asked: QuestionOptions): boolean {
  const { full, proofs = "until_loaded", refreshAhead } = asked;
  if (proofs === "never" || full) return false;
  if (proofs === "always") return true;
  // With `refreshAhead` the feed is loaded in the background.
  const isDue = refreshAhead === false && isDueToLoad(issuer, asked);
  return issuer.copy === undefined && !isDue;
}

/** Reads by proof, until the signal aborts; undefined without proofs. */
async function readParts(
  issuer: KnownIssuer,
  pin: Pin,
  question: ProofQuestion,
  { askedAt, signal, ...options }: QuestionOptions,
) {
  const location = await issuer.locateProofs(signal);
  if (location === undefined) return undefined;
  const { reader } = location;
  let ending = signal;
  const inTime = {
    kind: reader.kind,
    open: (ref: string, asked: OpenOptions) =>
      reader.open(ref, { ...asked, ...(ending && { signal: ending }) }),
  };
  const { readByProof } = await import("./read_by_proof.ts");
  const given = { ...options, now: askedAt, pin };
  const found = await readByProof(
    { ...location, reader: inTime },
    question,
    given,
  );
  signal?.throwIfAborted();
  // A read of the feed that continues with this reader is for all questions.
  ending = undefined;
  return found;
}

/**
 * Returns an observation of what this user has read within the maximum age, in
 * any process: the copy on disk, if it is exactly what is remembered. Nothing is
 * fetched, and everything is verified.
 */
async function observeMirrored(
  issuer: KnownIssuer,
  pin: Pin,
  asked: QuestionOptions,
  part: StateScope,
): Promise<Observation | undefined> {
  const keepOnly = subjectToKeep(part, asked);
  const { bounds: { maxAgeMs }, askedAt } = asked;
  const observedAt = mirroredAt(pin, asked);
  const isUsable = observedAt !== undefined && issuer.copy === undefined &&
    isYoungEnough(observedAt, askedAt, maxAgeMs);
  if (!isUsable || pin.status !== "remembered") return undefined;
  const { reader } = issuer.location;
  const location = { ...issuer.location, reader: unchanged(reader) };
  const start = { pin, repeatedAt: askedAt };
  const options = { ...asked, now: askedAt, keepOnly };
  const { readFeed } = await import("./refresh.ts");
  const { found, mirror } = await readFeed(location, start, options);
  mirror?.close();
  if (found.kind !== "feed" || !isCurrent(pin, found.copy)) return undefined;
  const observedText = timeOf(observedAt);
  const copy = { ...found.copy, observedAt, observedText };
  if (keepOnly === undefined) issuer.copy = copy;
  return answerOf([copy], issuer.keeper, pin, asked);
}

/** Returns when the copy on disk was read, if there may be one. */
function mirroredAt(
  pin: Pin,
  { mirrorFolder, full }: QuestionOptions,
): Date | undefined {
  const { feed } = pin.status === "remembered" ? pin : { feed: null };
  return mirrorFolder === undefined || full || feed === null
    ? undefined
    : new Date(feed.read_at);
}

/** Returns a reader of a server that has not changed anything. */
function unchanged({ kind }: DocumentReader): DocumentReader {
  return {
    kind,
    open: () =>
      Promise.resolve({
        ...documentFromBytes({
          bytes: new Uint8Array(),
          mediaType: null,
          etag: null,
        }),
        unchanged: true,
      }),
  };
}
