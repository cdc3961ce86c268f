/**
 * One subject's relationships from checkpoint, path and tail, without the feed
 * (docs/protocol.md §13.3).
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

/** Bytes of the feed after a checkpoint, above which the feed is read. */
const MAX_TAIL_BYTES = 1024 * 1024;

/** How often it is tried: an issuer may just be publishing. */
const ATTEMPTS = 2;

/** Options of {@linkcode readByProof}. */
export interface ProofOptions extends LoadProofsOptions {
  /** What is remembered of the issuer. */
  readonly pin?: IssuerPin | undefined;
}

/** What a proof is asked for. */
export interface ProofQuestion {
  /** The only subject. */
  readonly subject: string;
  /** Events that were known. */
  readonly asOf?: number | undefined;
  /** It may be about what was true at some time. */
  readonly isPast: boolean;
}

/** An answer's ground that was proved. */
export interface Proven {
  /** What was verified: of the state only what is about the subject. */
  readonly verified: VerifiedIssuer;
  /** What to remember. */
  readonly memory: ProofMemory;
}

/** There is no proof, and the feed is to be read. */
export interface Unproven {
  /** The documents, to read the feed with. */
  readonly loaded: LoadedIssuer;
  /** Why a proof that is there was not used. */
  readonly warning?: Warning;
}

/** The question of a part that can be proved: of one subject, known by number. */
export function provableQuestion(
  { subjects, asOf, at }: StatePart,
): ProofQuestion | undefined {
  const [subject, other] = new Set(subjects);
  const isPast = at !== null;
  if (subject === undefined || other !== undefined) return undefined;
  return asOf === undefined || typeof asOf === "number" && at
    ? { subject, asOf, isPast }
    : undefined;
}

/**
 * Reads what one subject's relationships are, by proof. A broken proof gives no
 * answer and a missing file never means that there is no relationship: then the
 * feed is to be read.
 *
 * @throws {SigError} why the issuer's documents can't be used.
 * @throws {RefreshFailure} for what contradicts the pin.
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
        // A rotation may be under way; no other contradiction goes away.
        const mayPass = isSigError(error.cause, "key_not_introduced");
        if (!mayPass || isLast) throw error;
        continue;
      }
      if (!isSigError(error)) throw error;
      const { code } = error;
      // A server that is slow is not asked twice.
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
  // Nothing is shown, and nothing remembered.
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

/** What follows the checkpoint in the feed; undefined: read all of it. */
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
  // A tail's revoke may be of a relationship that is another subject's.
  const warnings = replay.warnings.filter(({ code }) =>
    code !== "revoke_without_upsert"
  );
  return {
    ...{ issuer, source, state },
    feed: {
      ...{ state, warnings, keys: [], faults: [] },
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

/** @throws {SigError} where tiles don't show it: then the feed decides. */
async function requireContinued(
  files: ProofFiles,
  { size, root }: ProofMemory,
  checkpoint: OpenedCheckpoint,
): Promise<void> {
  const before = { size, root: decodeBase64(root) ?? new Uint8Array() };
  if (await files.isContinued(before, checkpoint)) return;
  throw proofInvalid(`the tiles don't continue the first ${size} events`);
}

/** When the issuer last took a checkpoint for the newest, if it says so. */
export function timeOf({ time }: OpenedCheckpoint): string | null {
  return time === null
    ? null
    : formatInstant({ seconds: time, nanoseconds: 0 });
}

/** The feed after a checkpoint. */
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

/** Whose lines they are. */
type SubjectIssuer = Pick<LoadedIssuer, "issuer" | "keys"> & {
  readonly metadata: Pick<SigMetadata, "public_only">;
};

/** Verifies and replays the lines of one subject, then a tail. */
export class SubjectReplay {
  readonly replay: Replay;
  readonly #history = new PartialHistory();
  readonly #loaded: SubjectIssuer;
  readonly #question: ProofQuestion;
  readonly #parse: ReturnType<typeof createFeedLineParser>;

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

  /** Takes a line of the subject; the kid that signed it. */
  async addOwn(bytes: Uint8Array, size: number): Promise<string> {
    const { event, kid } = await this.#verify(bytes);
    if (event.sequence > size) {
      throw proofInvalid(`a line has sequence ${event.sequence} of ${size}`);
    }
    if (isUpsert(event) && event.subject !== this.#question.subject) {
      throw proofInvalid("an upsert names another subject");
    }
    const isKnown = this.#history.versions.has(event.relationship_id);
    if (!isUpsert(event) && !isKnown) {
      throw proofInvalid("a relationship does not begin with an upsert");
    }
    this.replay.applySparse(event);
    return kid;
  }

  /** Takes the lines after the checkpoint; false where the feed must be read. */
  async addTail(lines: readonly Uint8Array[], size: number): Promise<boolean> {
    const { isPast } = this.#question;
    const own = new Set(this.#history.versions.keys());
    this.replay.resume(size);
    for (const line of lines) {
      const { event } = await this.#verify(line);
      this.replay.apply(event);
      // What it was before it came to the subject is not known.
      if (isPast && isUpsert(event) && !own.has(event.relationship_id)) {
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
    return { event, kid: parsed.header.kid };
  }
}
