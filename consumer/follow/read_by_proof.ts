/**
 * Reads one subject's relationships from checkpoint, path and tail, without the
 * feed (docs/protocol.md §13.3).
 *
 * @module
 */

import {
  createFeedLineParser,
  DEFAULT_LIMITS,
  formatInstant,
  instantOf,
  isSigError,
  isUpsert,
  parseEventPayload,
  Replay,
  type SigError,
  type SigMetadata,
  type Warning,
} from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import { verifyEnvelope } from "@sig/jose/keys";
import {
  createSha256,
  decodeBase64,
  encodeBase64,
  type OpenedCheckpoint,
  proofInvalid,
  subjectKey,
} from "@sig/jose/proofs";
import { RefreshFailure } from "../memory/issuer_record.ts";
import { type IssuerPin, namePin, type ProofMemory } from "../memory/pin.ts";
import {
  PartialHistory,
  replayFrom,
  type StatePart,
} from "../memory/partial_history.ts";
import { type IssuerLocation, readAll } from "../read/reader.ts";
import { incompleteLine } from "../verify/feed_fault.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import {
  contradictionOfProofs,
  MAX_REMEMBERED_KEYS,
  proofOf,
  seenProof,
} from "./compare_proofs.ts";
import { fetchedKeys, rolledBack } from "./check_continuity.ts";
import { type LoadProofsOptions, ProofsOfFeed } from "./full_read.ts";
import type { ProofFiles } from "../proofs/proof_files.ts";

/** Maximum size of a tail; above it, the feed is read. */
const MAX_TAIL_BYTES = 1024 * 1024;

/** Maximum number of attempts: an issuer may be publishing during a read. */
const ATTEMPTS = 2;

interface ProofOptions extends LoadProofsOptions {
  readonly pin?: IssuerPin | undefined;
}

/** A question that can be answered by proof. */
export interface ProofQuestion {
  readonly subject: string;
  readonly asOf?: number | undefined;
  /** Whether the question may be about a past time. */
  readonly isPast: boolean;
}

/** A valid proof; the state has only the subject's relationships. */
export interface Proven {
  readonly verified: VerifiedIssuer;
  readonly memory: ProofMemory;
}

/** The result without a proof; the caller must read the feed. */
export interface Unproven {
  readonly loaded: LoadedIssuer;
  readonly warning?: Warning;
}

/**
 * Returns the question of a part that can be answered by proof: about one
 * subject, without `asOf` as a time, and under the default rules for events;
 * otherwise undefined.
 */
export function provableQuestion(
  { subjects, asOf, at }: StatePart,
  { unknownEvents, unmatchedRevoke }: FeedPolicy,
): ProofQuestion | undefined {
  if (unknownEvents === "ignore" || unmatchedRevoke === "reject") {
    return undefined;
  }
  const [subject, other] = new Set(subjects);
  const isPast = at !== null;
  if (subject === undefined || other !== undefined) return undefined;
  return asOf === undefined || typeof asOf === "number" && at
    ? { subject, asOf, isPast }
    : undefined;
}

/**
 * Reads one subject's relationships by proof. A broken proof or a missing file
 * never means that there is no relationship: the caller must then read the
 * feed.
 *
 * @throws {SigError} if the issuer's documents can't be read or are invalid.
 * @throws {RefreshFailure} for a contradiction to the pin.
 */
export async function readByProof(
  location: IssuerLocation,
  question: ProofQuestion,
  options: ProofOptions,
): Promise<Proven | Unproven> {
  for (let attempt = 1;; attempt++) {
    const proofs = new ProofsOfFeed(location);
    const loaded = await proofs.load(options);
    try {
      return await prove(proofs, loaded, question, options);
    } catch (error) {
      const isLast = attempt === ATTEMPTS;
      if (error instanceof RefreshFailure) {
        // A key rotation may be in progress; all other contradictions are
        // permanent.
        const mayPass = isSigError(error.cause, "key_not_introduced");
        if (!mayPass || isLast) throw error;
        continue;
      }
      if (!isSigError(error)) throw error;
      const { code } = error;
      // A slow server gets no second request.
      if (isLast || code === "fetch_timeout") return notUsed(loaded, code);
    }
  }
}

function notUsed(loaded: LoadedIssuer, detail: string): Unproven {
  return { loaded, warning: { code: "proof_not_used", detail } };
}

async function prove(
  proofs: ProofsOfFeed,
  loaded: LoadedIssuer,
  question: ProofQuestion,
  options: ProofOptions,
): Promise<Proven | Unproven> {
  const { checkpoint, fault, files } = proofs;
  const { pin: stored, now } = options;
  // The issuer publishes no proofs, and none are remembered.
  if (files === undefined && stored === undefined) return { loaded };
  const keys = await fetchedKeys(loaded.keys);
  const pin = stored && await namePin(stored, keys.published);
  const known = pin?.proof;
  const contradicted = async (error: SigError) =>
    new RefreshFailure(error, { seen: await seenProof({ keys, checkpoint }) });
  const error = pin && contradictionOfProofs(pin, { keys, checkpoint });
  if (error !== undefined) throw await contradicted(error);
  if (fault !== undefined) throw fault;
  if (checkpoint === undefined || files === undefined) return { loaded };
  const { size } = checkpoint;
  const { subject, asOf = 0 } = question;
  if (keys.authorized.size > MAX_REMEMBERED_KEYS) {
    const why = `over ${MAX_REMEMBERED_KEYS} keys may sign events, and so ` +
      "many are not remembered";
    return notUsed(loaded, why);
  }
  if (size === 0 || asOf > size) return { loaded };
  if (known !== undefined && size > known.size) {
    await requireContinued(files, known, checkpoint);
  }
  const [{ end }, tail] = await Promise.all([
    files.walk(checkpoint.state, subject),
    readTail(loaded, checkpoint),
  ]);
  if (tail === undefined) return { loaded };
  const key = subjectKey(createSha256(), subject);
  if (end?.kind === "too_large" && sameBytes(end.key, key)) return { loaded };
  const lines = end?.kind === "lines"
    ? end.subjects.find((each) => sameBytes(each.key, key))?.lines ?? []
    : [];
  const replay = new SubjectReplay(loaded, question, options);
  for (const { bytes } of lines) await replay.addOwn(bytes, size);
  if (!await replay.addTail(tail.lines, size)) return { loaded };
  const seen = size + tail.lines.length;
  if (known !== undefined && seen < known.seen) {
    throw await contradicted(rolledBack(known.seen, seen));
  }
  const last_seen = formatInstant(instantOf(now));
  return {
    verified: verifiedBy(loaded, checkpoint, replay, tail),
    memory: { ...proofOf(checkpoint, keys), seen, last_seen },
  };
}

/** Reads the feed after the checkpoint; undefined if it must be read whole. */
async function readTail(
  loaded: LoadedIssuer,
  { bytes }: OpenedCheckpoint,
): Promise<Tail | undefined> {
  const opened = await loaded.openFeed({ range: { from: bytes - 1 } })
    .catch((error) => {
      const isShorter = isSigError(error, "fetch_status") &&
        error.context.status === 416;
      if (!isShorter) throw error;
      return undefined;
    });
  if (opened === undefined) {
    const detail = `the feed ends before byte ${bytes} of the checkpoint`;
    return {
      lines: [],
      warnings: [{ code: "feed_behind_checkpoint", detail }],
    };
  }
  const { document, warnings } = opened;
  try {
    const { range } = document;
    const isLong = range === undefined || range.total - bytes > MAX_TAIL_BYTES;
    if (isLong) return undefined;
    const tail = await readAll(document, MAX_TAIL_BYTES + 1);
    if (tail[0] !== LF) {
      throw proofInvalid("the feed has no line feed where the checkpoint ends");
    }
    return { lines: linesOf(tail.subarray(1)), warnings };
  } finally {
    await document.cancel();
  }
}

function verifiedBy(
  { issuer, source, warnings: ofDocuments }: LoadedIssuer,
  checkpoint: OpenedCheckpoint,
  { replay }: SubjectReplay,
  tail: Tail,
): VerifiedIssuer {
  const state = replay.state();
  // A revoke in the tail may belong to another subject's relationship.
  const warnings = replay.warnings.filter(({ code }) =>
    code !== "revoke_without_upsert"
  );
  return {
    issuer,
    source,
    state,
    feed: {
      state,
      warnings,
      keys: [],
      faults: [],
      verifiedEvents: state.last_sequence,
      bytes: checkpoint.bytes,
    },
    warnings: [...ofDocuments, ...tail.warnings, ...warnings],
    proof: {
      size: checkpoint.size,
      root: encodeBase64(checkpoint.root),
      state: encodeBase64(checkpoint.state),
      kid: checkpoint.kids[0]!,
      signed_at: timeOf(checkpoint),
      tail: tail.lines.length,
    },
  };
}

/**
 * @throws {SigError} `proof_invalid` if the tiles don't prove it; the feed is
 * then read.
 */
async function requireContinued(
  files: ProofFiles,
  { size, root }: ProofMemory,
  checkpoint: OpenedCheckpoint,
): Promise<void> {
  const before = { size, root: decodeBase64(root) ?? new Uint8Array() };
  if (await files.isContinued(before, checkpoint)) return;
  throw proofInvalid(`the tiles don't continue the first ${size} events`);
}

/**
 * Returns when the issuer last confirmed a checkpoint as the newest (RFC 3339);
 * null if not stated.
 */
export function timeOf({ time }: OpenedCheckpoint): string | null {
  return time === null
    ? null
    : formatInstant({ seconds: time, nanoseconds: 0 });
}

/** The part of the feed after a checkpoint. */
interface Tail {
  readonly lines: readonly Uint8Array[];
  readonly warnings: readonly Warning[];
}

const LF = 0x0a;

function linesOf(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < bytes.length;) {
    const to = bytes.indexOf(LF, from);
    if (to < 0) throw incompleteLine();
    lines.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return lines;
}

type SubjectIssuer = Pick<LoadedIssuer, "issuer" | "keys"> & {
  readonly metadata: Pick<SigMetadata, "public_only">;
};

/** A verified line of the subject. */
interface OwnLine {
  readonly kid: string;
  /** Whether its key had ended. */
  readonly isVoid: boolean;
}

/** Verifies and replays the lines of one subject, then a tail. */
export class SubjectReplay {
  readonly replay: Replay;
  readonly #history = new PartialHistory();
  readonly #loaded: SubjectIssuer;
  readonly #question: ProofQuestion;
  readonly #parse: ReturnType<typeof createFeedLineParser>;
  /** The relationships of the subject, also of void events. */
  readonly #own = new Set<string>();

  constructor(
    loaded: SubjectIssuer,
    question: ProofQuestion,
    { now, limits = DEFAULT_LIMITS }: Pick<ProofOptions, "now" | "limits">,
  ) {
    this.#loaded = loaded;
    this.#question = question;
    this.#parse = createFeedLineParser({ limits });
    const { issuer } = loaded;
    const start = replayFrom(this.#history);
    this.replay = new Replay({ issuer, limits, now: instantOf(now) }, start);
  }

  /** Adds a line of the subject; returns the kid that signed it. */
  async addOwn(bytes: Uint8Array, size: number): Promise<OwnLine> {
    const { event, kid, isVoid } = await this.#verify(bytes);
    if (event.sequence > size) {
      throw proofInvalid(`a line has sequence ${event.sequence} of ${size}`);
    }
    const isKnown = this.#own.has(event.relationship_id);
    const isMoved = isUpsert(event) && !(isVoid && isKnown) &&
      event.subject !== this.#question.subject;
    if (isMoved) throw proofInvalid("an upsert names another subject");
    if (!isUpsert(event) && !isKnown) {
      throw proofInvalid("a relationship does not begin with an upsert");
    }
    this.#own.add(event.relationship_id);
    this.replay.applySparse(event, isVoid);
    return { kid, isVoid };
  }

  /**
   * Adds the lines after the checkpoint; returns false if the feed must be
   * read.
   */
  async addTail(lines: readonly Uint8Array[], size: number): Promise<boolean> {
    const { isPast } = this.#question;
    this.replay.resume(size);
    for (const line of lines) {
      const { event, isVoid } = await this.#verify(line);
      this.replay.apply(event, undefined, isVoid);
      if (isVoid) continue;
      // The relationship's earlier versions, under another subject, are
      // unknown.
      if (isPast && isUpsert(event) && !this.#own.has(event.relationship_id)) {
        return false;
      }
    }
    return true;
  }

  async #verify(bytes: Uint8Array) {
    const parsed = this.#parse(bytes);
    await verifyEnvelope(parsed, this.#loaded.keys);
    const { public_only: publicOnly } = this.#loaded.metadata;
    const event = parseEventPayload(parsed.payload, { publicOnly });
    const { kid } = parsed.header;
    const isVoid = event.sequence > (this.#loaded.keys.endOf(kid) ?? Infinity);
    return { event, kid, isVoid };
  }
}
