/**
 * Reads one subject's relationships from checkpoint, path and tail, without the
 * feed (docs/protocol.md §13.3).
 *
 * In: where the issuer is, its pin, and a question about one subject. Out: a
 * `Part` with what was proven, a contradiction, a fault, or `unproven`: the feed
 * must be read. `readByProof` makes up to two attempts (`attemptProof`: the
 * documents; `verifyProof`: files and tail; `judgeTail`: comparison).
 *
 * @module
 */

import { isSigError, type SigError, type Warning } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import {
  decodeBase64,
  encodeBase64,
  leafHash,
  type OpenedCheckpoint,
  type PlacedLine,
  proofInvalid,
  subjectKey,
  TreeHasher,
} from "@sig/jose/proofs";
import {
  type FetchedKeys,
  findContradiction,
  servedKeys,
} from "../memory/compare.ts";
import { pinnedRecovery } from "../memory/compare_recovery.ts";
import {
  eventsSeen,
  type KnownPin,
  type Pin,
  type PinnedProof,
  type Seen,
  type SeenProof,
  shortenKids,
  UNKNOWN,
} from "../memory/pin.ts";
import type { ProofFiles, Walk } from "../proofs/proof_files.ts";
import { confirmedAt } from "../proofs/proof_policy.ts";
import { IssuerDocuments, NO_DOCUMENTS } from "../read/issuer_documents.ts";
import {
  type DocumentReader,
  type IssuerLocation,
  readAll,
} from "../read/reader.ts";
import { incompleteLine } from "../verify/feed_fault.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import { SubjectReplay } from "../verify/subject_replay.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import type { Of } from "../memory/transitions.ts";
import type { ProofQuestion } from "./bounds.ts";
import {
  type LoadProofsOptions,
  MAX_PROOF_KEYS,
  type OpenedIssuer,
  openIssuer,
  pinnedHashes,
} from "./issuer_proofs.ts";
import {
  contradictionOf,
  type Part,
  type ReadOutcome,
  readTwiceIfTransient,
  type RefreshOptions,
  timeOf,
} from "./reading.ts";

/** Maximum size of a tail; above it, the feed is read. */
const MAX_TAIL_BYTES = 1024 * 1024;

const LF = 0x0a;

interface ProofOptions extends LoadProofsOptions {
  readonly pin: Pin;
}

/** No proof was used: the feed must be read. */
interface Unproven {
  readonly kind: "unproven";
  readonly warning?: Warning | undefined;
  /** The fault because of which the proof was not used. */
  readonly fault?: SigError | undefined;
}

/** The outcome of a read by proof: the proof, a fault or a contradiction. */
type ProofOutcome = Exclude<ReadOutcome, { readonly kind: "feed" }>;

/** The outcome of a read by proof, or why the feed must be read. */
type ProofAttempt =
  | ProofOutcome
  /** `again` has already read the documents, for the read of the feed. */
  | Unproven & { readonly again: DocumentReader };

/**
 * Reads one subject's relationships by proof. A broken proof or a missing file
 * never means that there is no relationship: the caller must then read the
 * feed.
 *
 * @throws any error that is not the issuer's.
 */
export async function readByProof(
  location: IssuerLocation,
  question: ProofQuestion,
  options: ProofOptions,
): Promise<ProofAttempt> {
  return await readTwiceIfTransient<ProofAttempt>(
    async (_isRepeated, before) => {
      const found = await attemptProof(location, question, options);
      return found.kind === "unproven" && before !== undefined
        ? { fault: before, ...found }
        : found;
    },
    // A slow server gets no second request.
    (first) =>
      first.kind === "unproven" && first.warning !== undefined &&
      first.warning.detail !== "fetch_timeout",
  );
}

/**
 * Reads an issuer by proof, or its feed if the question can't be answered by
 * proof. A checkpoint policy applies to both.
 *
 * @param question Undefined if proofs must not be used.
 * @throws {SigError} as `verifyIssuer`, and those of the checkpoint policy.
 */
export async function observeOnce(
  location: IssuerLocation,
  question: ProofQuestion | undefined,
  options: RefreshOptions,
): Promise<VerifiedIssuer> {
  const unproven = question &&
    await readByProof(location, question, { ...options, pin: UNKNOWN });
  if (unproven?.kind === "proof") return unproven.part.verified;
  if (unproven !== undefined && unproven.kind !== "unproven") {
    throw unproven.error;
  }
  const { readFeed } = await import("./refresh.ts");
  const { again: reader = location.reader, warning } = unproven ?? {};
  const place = { ...location, reader };
  const { found } = await readFeed(place, { pin: UNKNOWN }, options);
  if (found.kind !== "feed") throw found.error;
  const { verified } = found.copy;
  return warning === undefined
    ? verified
    : { ...verified, warnings: [warning, ...verified.warnings] };
}

async function attemptProof(
  location: IssuerLocation,
  question: ProofQuestion,
  options: ProofOptions,
): Promise<ProofAttempt> {
  const documents = new IssuerDocuments(location.reader, NO_DOCUMENTS);
  let opened: OpenedIssuer;
  try {
    const place = { ...location, reader: documents };
    opened = await openIssuer(place, options.pin, options);
  } catch (error) {
    if (!isSigError(error)) throw error;
    return { kind: isUnavailable(error) ? "unreachable" : "fault", error };
  }
  const found = await verifyProof(opened, question, options)
    .catch((error: unknown) => {
      if (!isSigError(error)) throw error;
      const unused = notUsed(error.code);
      return isUnavailable(error) ? unused : { ...unused, fault: error };
    });
  return found.kind === "unproven"
    ? { ...found, again: documents.again() }
    : found;
}

function notUsed(detail: string): Unproven {
  return { kind: "unproven", warning: { code: "proof_not_used", detail } };
}

/** The feed must be read, which is no reason for a warning. */
const UNPROVEN: Unproven = { kind: "unproven" };

async function verifyProof(
  { pin, loaded, keys, proofs, error }: OpenedIssuer,
  question: ProofQuestion,
  { now, limits }: ProofOptions,
): Promise<ProofOutcome | Unproven> {
  const { checkpoint, fault, files } = proofs;
  if (error !== undefined) {
    return contradictionOf(error, servedOf(keys, checkpoint), now);
  }
  if (fault !== undefined) throw fault;
  if (checkpoint === undefined || files === undefined) return UNPROVEN;
  const { size } = checkpoint;
  const { subject, asOf = 0, isPast } = question;
  if (keys.usable.size > MAX_PROOF_KEYS) {
    return notUsed(
      `over ${MAX_PROOF_KEYS} keys may sign events, and so many are not ` +
        "remembered",
    );
  }
  if (size === 0 || asOf > size) return UNPROVEN;
  const walking = files.walk(checkpoint.state, subject);
  const reading = readTail(loaded, checkpoint, pin);
  const continuing = pin && requireContinued(files, pin, checkpoint);
  const shown = { pin, keys, checkpoint, files, now };
  const failure = await firstFailure([walking, reading, continuing]);
  const tail = await reading.catch(() => undefined);
  // What the tail shows counts, also if other files can't be read.
  const isJudged = failure === undefined ||
    isUnavailable(failure) && tail !== undefined;
  if (!isJudged) throw failure;
  if (tail === undefined) return UNPROVEN;
  const lines = failure === undefined
    ? linesAt((await walking).end, subjectKey(subject))
    : [];
  if (lines === undefined) return UNPROVEN;
  const replay = new SubjectReplay(loaded, question, { now, limits });
  for (const { bytes } of lines) await replay.addOwn(bytes, size);
  const isWhole = await replay.addTail(tail.lines, size);
  if (!isWhole && failure === undefined) return UNPROVEN;
  const found = await judgeTail(shown, tail);
  if ("kind" in found) return found;
  if (failure !== undefined) throw failure;
  const { seen } = found;
  const proof: PinnedProof = {
    ...pinnedHashes(checkpoint),
    seen,
    keys: await shortenKids(keys.usable),
  };
  const ownBytes = lines.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const recovery = pinnedRecovery(loaded.recovery);
  const part: Part = {
    statements: recovery?.sha256 ?? null,
    events: seen.size,
    seen,
    observedAt: now,
    observedText: timeOf(now),
    subject,
    isPast,
    size,
    checkpoint,
    feedBytes: checkpoint.bytes,
    heldBytes: 1024 + 2 * ownBytes,
    continuity: pin === undefined ? "first_seen" : "consistent",
    verified: verifiedBy(loaded, checkpoint, replay, tail),
  };
  const { issuer } = loaded;
  return { kind: "proof", at: timeOf(now), issuer, part, proof, recovery };
}

/** The part of the feed after a checkpoint. */
interface Tail {
  readonly lines: readonly Uint8Array[];
  readonly warnings: readonly Warning[];
}

/** Reads the feed after the checkpoint; undefined if it must be read whole. */
async function readTail(
  loaded: LoadedIssuer,
  { bytes, size }: OpenedCheckpoint,
  pin: KnownPin | undefined,
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
    // Only the feed itself shows that it lacks events that were seen.
    if (pin !== undefined && eventsSeen(pin) > size) throw proofInvalid(detail);
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

/**
 * Requires that a larger checkpoint continues everything that was seen. A
 * smaller or equal one is compared by the lines of the tail.
 *
 * @throws {SigError} `proof_invalid` if the tiles don't prove it; the feed is
 * then read.
 */
async function requireContinued(
  files: ProofFiles,
  { proof }: KnownPin,
  checkpoint: OpenedCheckpoint,
): Promise<void> {
  if (proof === null) return;
  const { size, root } = proof.seen.root === null ? proof : proof.seen;
  if (checkpoint.size <= size) return;
  const before = { size, root: decodeBase64(root ?? "") ?? new Uint8Array() };
  if (await files.isContinued(before, checkpoint)) return;
  throw proofInvalid(`the tiles don't continue the first ${size} events`);
}

/** Returns a subject's lines; undefined if they are not at the end of a path. */
function linesAt(
  end: Walk["end"],
  key: Uint8Array,
): readonly PlacedLine[] | undefined {
  if (end?.kind === "too_large" && sameBytes(end.key, key)) return undefined;
  const subjects = end?.kind === "lines" ? end.subjects : [];
  return subjects.find((each) => sameBytes(each.key, key))?.lines ?? [];
}

function servedOf(
  keys: FetchedKeys,
  checkpoint: OpenedCheckpoint | undefined,
): SeenProof {
  const none = { size: null, root: null, state: null };
  const hashes = checkpoint === undefined ? none : pinnedHashes(checkpoint);
  return { ...hashes, ...servedKeys(keys) };
}

function isUnavailable(error: unknown): boolean {
  return isSigError(error) && error.category === "unavailable";
}

/** Returns an error of some work, if any: one that is not a failed request. */
async function firstFailure(
  work: readonly (Promise<unknown> | undefined)[],
): Promise<unknown> {
  const errors = (await Promise.allSettled(work)).flatMap((each) =>
    each.status === "rejected" ? [each.reason as unknown] : []
  );
  return errors.find((error) => !isUnavailable(error)) ?? errors[0];
}

/** What an issuer has shown, and its pin. */
interface ShownProof {
  readonly pin: KnownPin | undefined;
  readonly keys: FetchedKeys;
  readonly checkpoint: OpenedCheckpoint;
  readonly files: ProofFiles;
  readonly now: Date;
}

/**
 * Compares the checkpoint with a verified tail with the pin. If the tiles can't
 * be read, only the number of events is compared.
 *
 * @returns The contradiction, or what was seen.
 * @throws {SigError} `proof_invalid` if the tiles are not those of the
 * checkpoint, and the errors of reading them.
 */
async function judgeTail(
  { pin, keys, checkpoint, files, now }: ShownProof,
  { lines }: Tail,
): Promise<Of<"contradiction"> | { readonly seen: Seen }> {
  const { size } = checkpoint;
  const events = size + lines.length;
  const continued = continueTree(files, checkpoint, lines);
  const roots = await continued.catch(() => undefined);
  const error = pin && findContradiction(pin, {
    keys,
    checkpoint,
    events,
    hashesAt(events) {
      const root = roots?.[events - size];
      return root && { root };
    },
  });
  // Everything that was seen is identified by its root.
  const seen = async () => {
    const root = (await continued).at(-1) ?? checkpoint.root;
    return { size: events, root: encodeBase64(root) };
  };
  if (error === undefined) return { seen: await seen() };
  const state = lines.length > 0 ? { state: null } : {};
  const served = roots === undefined
    ? null
    : { ...servedOf(keys, checkpoint), ...await seen(), ...state };
  return contradictionOf(error, served, now);
}

/** Returns the roots after the checkpoint, and after each line of its tail. */
async function continueTree(
  files: ProofFiles,
  { size, root }: OpenedCheckpoint,
  tail: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  if (tail.length === 0) return [root];
  const tree = new TreeHasher(size, await files.peaks({ size, root }));
  return [
    root,
    ...tail.map((line) => {
      tree.add(leafHash(line));
      return tree.root();
    }),
  ];
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
      signed_at: confirmedAt(checkpoint),
      tail: tail.lines.length,
    },
  };
}
