/**
 * Observes an issuer: decides whether a known state answers, reads the issuer
 * otherwise, and keeps what was found. Every pin is read, judged and written
 * here; the rules are in `memory/transitions.ts`.
 *
 * @module
 */

import { DEFAULT_LIMITS, isSigError, type Warning } from "@sig/core";
import type { KeptPin, PinKeeper } from "../memory/keeper.ts";
import type { Pin } from "../memory/pin.ts";
import {
  isCurrent,
  isYoungEnough,
  JUDGE_AGAIN,
  mayAnswer,
  next,
  wayOf,
} from "../memory/transitions.ts";
import { requirePolicy } from "../proofs/proof_policy.ts";
import {
  documentFromBytes,
  type DocumentReader,
  type OpenOptions,
} from "../read/reader.ts";
import {
  type Bounds,
  feedStale,
  type ProofQuestion,
  provableQuestion,
  requireReached,
  runImmediately,
  type StateScope,
  type WaitFor,
} from "./bounds.ts";
import { isUnreachable } from "./back_off.ts";
import type { KnownIssuer } from "./known_issuers.ts";
import {
  type Copy,
  type FollowedIssuer,
  type Observation,
  type Part,
  type ReadOutcome,
  type RefreshOptions,
  timeOf,
} from "./reading.ts";
import { waitAtMost } from "./shared_refresh.ts";

/** How a question is answered, in addition to its bounds. */
export interface QuestionOptions extends Omit<RefreshOptions, "now"> {
  /** When the question arrived. */
  readonly at: Date;
  readonly bounds: Bounds;
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
 * Returns the observation of a known state, if the pin is in this process and
 * the state may answer: the usual case, without a promise.
 */
export function observeKnown(
  issuer: KnownIssuer,
  part: StateScope,
  asked: QuestionOptions,
): Observation | undefined {
  const kept = issuer.keeper.known;
  if (kept === undefined) return undefined;
  return answerOf(issuer, kept.pin, provableQuestion(part, asked), asked);
}

/**
 * Returns an observation of an issuer that meets the bounds, of the whole feed
 * or of the part that the question needs.
 *
 * @throws {SigError} `feed_stale`, `consistency_unavailable`,
 * `store_unavailable`, and the error of a failed read.
 */
export async function observeIssuer(
  issuer: KnownIssuer,
  part: StateScope,
  asked: QuestionOptions,
): Promise<Observation> {
  const { bounds, at, waitFor = runImmediately } = asked;
  const question = provableQuestion(part, asked);
  const { pin } = await issuer.keeper.read(at);
  const known = answerOf(issuer, pin, question, asked);
  if (known !== undefined) return known;
  const keepOnly = asked.oneAnswer ? onlySubjectOf(part) : undefined;
  const mirrored = await observeMirrored(issuer, pin, asked, keepOnly);
  if (mirrored !== undefined) return mirrored;
  const current = currentState(issuer, pin, question);
  if (asked.refresh === false) {
    const { maxAgeMs } = bounds;
    throw feedStale(issuer.did, current?.observedAt, maxAgeMs);
  }
  const read = async (signal?: AbortSignal) => {
    const proven = question && await proveAnswer(issuer, question, asked);
    const observation = proven?.observation ?? await waitFor(
      issuer.did,
      () =>
        keepOnly === undefined
          ? sharedRefresh(issuer, pin, asked, signal)
          : issuer.refreshFor(keepOnly, signal),
    ).catch(async (error) => {
      // A connection that breaks must not hide the fault of a proof.
      if (isUnreachable(error)) await proven?.writeFault?.();
      throw error;
    });
    const { warning } = proven ?? {};
    return warning === undefined ? observation : warned(observation, warning);
  };
  const isUrgent = bounds.maxAgeMs === 0;
  const { signal } = asked;
  const observation = await issuer.backOff.ask(read, { isUrgent, signal })
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
  const { at, bounds: { maxAgeMs, graceMs, ...bounds } } = asked;
  const { pin } = await issuer.keeper.read(at);
  const within = { ...bounds, maxAgeMs: maxAgeMs + graceMs, graceMs };
  const state = isUnreachable(error)
    ? answerOf(issuer, pin, question, { ...asked, bounds: within })
    : undefined;
  if (state !== undefined) return { ...state, isStale: true };
  const known = currentState(issuer, pin, question)?.observedAt ??
    mirroredAt(pin, asked);
  const isStale = known !== undefined && maxAgeMs > 0 &&
    !isYoungEnough(known, at, maxAgeMs);
  throw isStale ? feedStale(issuer.did, known, maxAgeMs, error) : error;
}

/**
 * Returns the only subject that a question needs. A question about a past time
 * depends on all earlier versions of a relationship.
 */
function onlySubjectOf({ subjects, at }: StateScope): string | undefined {
  const [subject, other] = new Set(subjects);
  return at === null && other === undefined ? subject : undefined;
}

/** Returns the state of this process that has everything that is remembered. */
function currentState(
  { copy, parts }: KnownIssuer,
  pin: Pin,
  question: ProofQuestion | undefined,
): Copy | Part | undefined {
  const part = question && parts.find(question);
  return [copy, part].find((each) => each && isCurrent(pin, each));
}

function answerOf(
  issuer: KnownIssuer,
  pin: Pin,
  question: ProofQuestion | undefined,
  asked: QuestionOptions,
): Observation | undefined {
  const { copy, parts } = issuer;
  const part = question && parts.find(question);
  return stateOf([copy, part], issuer, pin, asked);
}

/** Returns the observation of the first state that may answer. */
function stateOf(
  states: readonly (Copy | Part | undefined)[],
  { keeper }: KnownIssuer,
  pin: Pin,
  asked: QuestionOptions,
): Observation | undefined {
  const { at, bounds: { maxAgeMs, minSequence } } = asked;
  const demand = { at, maxAgeMs, minSequence };
  for (const state of states) {
    if (state === undefined || !mayAnswer(pin, state, demand)) continue;
    if (stillMeets(state, asked)) return observationOf(keeper, pin, state);
  }
  return undefined;
}

/** A policy must hold when the answer is given, not when the state was read. */
function stillMeets(
  { checkpoint }: Copy | Part,
  { checkpointPolicy, at }: QuestionOptions,
): boolean {
  if (checkpointPolicy === undefined) return true;
  try {
    requirePolicy({ checkpoint }, checkpointPolicy, at);
    return true;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return false;
  }
}

/** Returns the observation of a state, as the pin and the keeper show it. */
function observationOf(
  { forgets }: PinKeeper,
  pin: Pin,
  { observation }: Copy | Part,
): Observation {
  const continuity = forgets ? "unpinned" : observation.continuity;
  const code = pin.status === "unknown" ? null : pin.inconsistency;
  if (code === null) return { ...observation, continuity };
  // Precedes all other warnings: an answer lists few, and an issuer can cause
  // any number.
  return warned({ ...observation, continuity }, {
    code: "history_was_inconsistent",
    detail: "since it is remembered, the issuer served something that " +
      `contradicts its history (${code})`,
  });
}

function warned(observation: Observation, warning: Warning): Observation {
  const { verified } = observation;
  const warnings = [warning, ...verified.warnings];
  return { ...observation, verified: { ...verified, warnings } };
}

async function sharedRefresh(
  { refreshes, copy }: KnownIssuer,
  pin: Pin,
  { bounds: { maxAgeMs, minSequence }, at }: QuestionOptions,
  signal: AbortSignal | undefined,
): Promise<Observation> {
  const { runningSince } = refreshes;
  const events = copy !== undefined && isCurrent(pin, copy) ? copy.events : 0;
  // A refresh that began before the question may have missed its event.
  const mayShare = runningSince !== undefined && events >= minSequence &&
    isYoungEnough(runningSince, at, maxAgeMs);
  return await (mayShare ? refreshes.current(signal) : refreshes.next(signal));
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
  readonly warning?: Warning;
  /** Keeps the fault of the proof, if the pin has not changed since. */
  readonly writeFault?: () => Promise<unknown>;
}> {
  const { keeper, did } = issuer;
  const { at, waitFor = runImmediately } = asked;
  if (!mayProve(issuer, asked)) return {};
  return await keeper.repeat(async () => {
    const before = await keeper.read(at);
    const { pin } = before;
    // With `requirePin`, the refresh reports a missing pin.
    const isMissing = asked.requirePin && pin.status === "unknown";
    const way = wayOf(pin, { isProvable: true, hasCopy: false });
    if (way !== "by_proof" || isMissing) return {};
    const found = await waitFor(
      did,
      () => readInTime(issuer, pin, question, asked),
    );
    if (found === undefined) return {};
    if (found.kind === "unproven") {
      const { warning, again, fault: error } = found;
      issuer.readBefore = again;
      if (warning === undefined) return {};
      return error === undefined ? { warning } : {
        warning,
        writeFault: () =>
          writePin(issuer, before, { kind: "fault", error }, at),
      };
    }
    const after = await writePin(issuer, before, found, at);
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
  { copy, parts: { reads, feedBytes = Infinity } }: KnownIssuer,
  { proofs = "until_loaded", limits = DEFAULT_LIMITS }: Pick<
    QuestionOptions,
    "limits" | "proofs"
  >,
): boolean {
  return proofs === "until_loaded" && copy === undefined &&
    feedBytes <= limits.maxFeedBytes &&
    reads * BYTES_OF_A_READ > feedBytes;
}

function mayProve(issuer: KnownIssuer, asked: QuestionOptions): boolean {
  const { full, proofs = "until_loaded", refreshAhead } = asked;
  if (proofs === "never" || full) return false;
  if (proofs === "always") return true;
  // With `refreshAhead` the feed is loaded in the background.
  const isDue = refreshAhead === false && isDueToLoad(issuer, asked);
  return issuer.copy === undefined && !isDue;
}

async function readInTime(
  issuer: KnownIssuer,
  pin: Pin,
  question: ProofQuestion,
  { at: now, ...options }: QuestionOptions,
) {
  const location = await issuer.locateProofs();
  if (location === undefined) return undefined;
  const { reader } = location;
  const { readByProof } = await import("./read_by_proof.ts");
  return await waitAtMost(issuer.maxWaitMs, (signal) => {
    const inTime = {
      kind: reader.kind,
      open: (ref: string, asked: OpenOptions) =>
        reader.open(ref, { ...asked, signal }),
    };
    const given = { ...options, now, pin };
    return readByProof({ ...location, reader: inTime }, question, given);
  });
}

/**
 * Reads the feed of an issuer, and keeps what was found. Repeats the read if
 * the pin has changed meanwhile, in another process or in this one.
 *
 * @returns The new observation.
 * @throws {SigError} the error of the read, and `store_unavailable`.
 */
export async function refreshIssuer(
  issuer: FollowedIssuer,
  options: RefreshOptions,
): Promise<{ readonly observation: Observation; readonly copy: Copy }> {
  const { keeper } = issuer;
  const { now, requirePin, keepOnly } = options;
  // Loaded with the first read, since not every program reads feeds.
  const { readFeed } = await import("./refresh.ts");
  return await keeper.repeat(async () => {
    options.onAttempt?.();
    const before = await keeper.read(now);
    const { pin } = before;
    if (requirePin && pin.status === "unknown") throw keeper.missing();
    const { copy, repeatedAt } = issuer;
    const start = { pin, copy, repeatedAt };
    const location = issuer.takeLocation();
    const read = await readFeed(location, start, options);
    // Not `using`, which Node 22 lacks.
    try {
      issuer.repeatedAt = read.repeatedAt;
      const { found } = read;
      if (found.kind === "feed" && keepOnly === undefined) {
        issuer.copy = found.copy;
      }
      const after = await writePin(issuer, before, found, now);
      if (after === undefined) return undefined;
      if (found.kind !== "feed") throw found.error;
      const state = found.copy;
      await read.mirror?.keep(state.documents);
      return {
        observation: observationOf(keeper, after.pin, state),
        copy: state,
      };
    } finally {
      read.mirror?.close();
    }
  });
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
  keepOnly: string | undefined,
): Promise<Observation | undefined> {
  const { bounds: { maxAgeMs }, at } = asked;
  const observedAt = mirroredAt(pin, asked);
  const isUsable = observedAt !== undefined && issuer.copy === undefined &&
    isYoungEnough(observedAt, at, maxAgeMs);
  if (!isUsable || pin.status !== "remembered") return undefined;
  const { reader } = issuer.location;
  const location = { ...issuer.location, reader: unchanged(reader) };
  const start = { pin, copy: undefined, repeatedAt: at };
  const options = { ...asked, now: at, keepOnly };
  const { readFeed } = await import("./refresh.ts");
  const { found, mirror } = await readFeed(location, start, options);
  mirror?.close();
  if (found.kind !== "feed" || !isCurrent(pin, found.copy)) return undefined;
  const observedText = timeOf(observedAt);
  const observation = { ...found.copy.observation, observedAt, observedText };
  const copy = { ...found.copy, observedAt, observation };
  if (keepOnly === undefined) issuer.copy = copy;
  return stateOf([copy], issuer, pin, asked);
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

/**
 * Writes the pin after a read. Returns undefined if the read must be repeated:
 * the pin has changed, or was forgotten.
 */
async function writePin(
  { keeper }: FollowedIssuer,
  before: KeptPin,
  found: ReadOutcome,
  now: Date,
): Promise<KeptPin | undefined> {
  if (found.kind === "contradiction" && keeper.forgets) {
    keeper.forget();
    return undefined;
  }
  const after = next(before.pin, found);
  if (after === JUDGE_AGAIN) return undefined;
  if (after === before.pin || after.status === "unknown") return before;
  return await keeper.write(before, after, now);
}
