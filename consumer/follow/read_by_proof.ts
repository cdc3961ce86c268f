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
import type { StatePart } from "../memory/issuer_record.ts";
import type { IssuerPin, ProofMemory, SeenProof } from "../memory/pin.ts";
import { PartialHistory } from "../memory/partial_history.ts";
import { type IssuerLocation, readAll } from "../read/reader.ts";
import { incompleteLine } from "../verify/feed_fault.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import {
  MAX_REMEMBERED_KEYS,
  proofOf,
  seenProof,
  signingKeys,
} from "./compare_proofs.ts";
import { rolledBack } from "./check_continuity.ts";
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
  /** Always absent. */
  readonly error?: undefined;
  /** What was verified: of the state only what is about the subject. */
  readonly verified: VerifiedIssuer;
  /** What to remember. */
  readonly memory: ProofMemory;
}

/** There is no proof, and the feed is to be read. */
export interface Unproven {
  /** Always absent. */
  readonly verified?: undefined;
  /** Always absent. */
  readonly error?: undefined;
  /** The documents, to read the feed with. */
  readonly loaded: LoadedIssuer;
  /** Why a proof that is there was not used. */
  readonly warning?: Warning;
}

/** What was shown contradicts the memory: nothing may be answered. */
export interface Contradicted {
  /** Always absent. */
  readonly verified?: undefined;
  /** The contradiction. */
  readonly error: SigError;
  /** What was shown. */
  readonly seen: SeenProof;
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
 */
export async function readByProof(
  location: IssuerLocation,
  question: ProofQuestion,
  options: ProofOptions,
): Promise<Proven | Unproven | Contradicted> {
  for (let attempt = 1;; attempt++) {
    const isLast = attempt === ATTEMPTS;
    const read = new ProofRead(location, question, options);
    const loaded = await read.load();
    try {
      const found = await read.answer(loaded);
      if (found === undefined) return { loaded };
      if (typeof found === "string") return { loaded, warning: notUsed(found) };
      // A rotation may be under way; no other contradiction goes away.
      const mayPass = found.error?.code === "key_not_introduced";
      if (!mayPass || isLast) return found;
    } catch (error) {
      if (!isSigError(error)) throw error;
      const { code } = error;
      // A server that is slow is not asked twice.
      if (!isLast && code !== "fetch_timeout") continue;
      return { loaded, warning: notUsed(code) };
    }
  }
}

function notUsed(detail: string): Warning {
  return { code: "proof_not_used", detail };
}

/** One attempt. */
class ProofRead {
  readonly #sha256 = createSha256();
  readonly #proofs: ProofsOfFeed;
  readonly #question: ProofQuestion;
  readonly #options: ProofOptions;

  constructor(
    location: IssuerLocation,
    question: ProofQuestion,
    options: ProofOptions,
  ) {
    this.#proofs = new ProofsOfFeed(location);
    this.#question = question;
    this.#options = options;
  }

  /** The documents and the checkpoint. */
  async load(): Promise<LoadedIssuer> {
    return await this.#proofs.load(this.#options);
  }

  /** What was found; undefined, or why, where the feed is to be read. */
  async answer(
    loaded: LoadedIssuer,
  ): Promise<Proven | Contradicted | string | undefined> {
    const sha256 = this.#sha256;
    const { keys } = loaded;
    const { checkpoint, fault, files } = this.#proofs;
    const { pin } = this.#options;
    const known = pin?.proof;
    const contradicted = async (error: SigError): Promise<Contradicted> => ({
      error,
      seen: await seenProof({ keys, checkpoint }),
    });
    const error = pin && await this.#proofs.contradiction(pin, keys);
    if (error !== undefined) return await contradicted(error);
    if (fault !== undefined) throw fault;
    if (checkpoint === undefined || files === undefined) return undefined;
    const { size } = checkpoint;
    const { subject, asOf = 0 } = this.#question;
    if (signingKeys(keys).size > MAX_REMEMBERED_KEYS) {
      return `over ${MAX_REMEMBERED_KEYS} keys may sign events, and so many are not remembered`;
    }
    if (size === 0 || asOf > size) return undefined;
    if (known !== undefined && size > known.size) {
      await requireContinued(files, known, checkpoint);
    }
    const [{ end }, tail] = await Promise.all([
      files.walk(checkpoint.state, subject),
      this.#readTail(loaded, checkpoint),
    ]);
    if (tail === undefined) return undefined;
    const key = subjectKey(sha256, subject);
    if (end?.kind === "too_large" && sameBytes(end.key, key)) return undefined;
    const lines = end?.kind === "lines"
      ? end.subjects.find((each) => sameBytes(each.key, key))?.lines ?? []
      : [];
    const replay = new SubjectReplay(loaded, this.#question, this.#options);
    for (const { bytes } of lines) await replay.addOwn(bytes, size);
    if (!await replay.addTail(tail.lines, size)) return undefined;
    const found = size + tail.lines.length;
    if (known !== undefined && found < known.seen) {
      return await contradicted(rolledBack(known.seen, found));
    }
    return {
      verified: this.#verified(loaded, checkpoint, replay, tail),
      memory: {
        ...await proofOf(checkpoint, keys),
        seen: found,
        last_seen: formatInstant(instantOf(this.#options.now)),
      },
    };
  }

  /** What follows the checkpoint in the feed; undefined: read all of it. */
  async #readTail(
    loaded: LoadedIssuer,
    { bytes }: OpenedCheckpoint,
  ): Promise<Tail | undefined> {
    const opened = await loaded.openFeed({ range: { from: bytes - 1 } })
      .catch((error) => {
        const { status } = isSigError(error, "fetch_status")
          ? error.context
          : {};
        if (status !== 416) throw error;
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
      const isLong = range === undefined ||
        range.total - bytes > MAX_TAIL_BYTES;
      if (isLong) return undefined;
      const tail = await readAll(document, MAX_TAIL_BYTES + 1);
      if (tail[0] !== LF) {
        throw proofInvalid(
          "the feed has no line feed where the checkpoint ends",
        );
      }
      return { lines: linesOf(tail.subarray(1)), warnings };
    } finally {
      await document.cancel();
    }
  }

  #verified(
    loaded: LoadedIssuer,
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
      issuer: loaded.issuer,
      source: loaded.source,
      state,
      feed: {
        ...{ state, warnings, keys: [], faults: [] },
        verifiedEvents: state.last_sequence,
        bytes: checkpoint.bytes,
      },
      warnings: [...loaded.warnings, ...tail.warnings, ...warnings],
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
    this.replay = new Replay({ issuer, limits, now: instantOf(now) }, {
      lastSequence: 0,
      latest: undefined,
      history: this.#history,
      warnings: [],
      warningsLeftOut: 0,
    });
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
