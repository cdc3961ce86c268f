/** Updates the proofs of a feed (docs/protocol.md §13.6). @module */

import {
  type ErrorCode,
  type ErrorContext,
  isSigError,
  isUpsert,
  parseEventPayload,
  SigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { sameBytes, withContext } from "@sig/core/internal";
import {
  isVoidEvent,
  type SigningKey,
  type VerificationKey,
} from "@sig/jose/keys";
import {
  type Checkpoint,
  EMPTY_HASH,
  encodeBase64,
  MAX_SUBJECT_BYTES,
  type NoteKey,
  originOfProofs,
  proofInvalid,
  subjectKey,
} from "@sig/jose/proofs";
import { type Recovery, recoveryLines } from "@sig/jose/recovery";
import { encodeDocument } from "../documents/build_documents.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import { authorizedKeys } from "../documents/signing_key.ts";
import type { EventIndex } from "../index/feed_index.ts";
import { readLines } from "../store/feed_lines.ts";
import type { FeedStore, FeedWriter, OpenFeed } from "../store/feed_store.ts";
import {
  addSignatures,
  CHECKPOINT_PATH,
  type CheckpointFile,
  digestOf,
  PROOFS_PATH,
  readCheckpoint,
  signCheckpoint,
} from "./checkpoint_file.ts";
import { FeedTree } from "./feed_tree.ts";
import { noteChange, noteRebuild, removeOldFiles } from "./removals.ts";
import {
  type NewLine,
  type ReadProofFile,
  StateUpdate,
  type WriteProofFiles,
} from "./state_update.ts";

interface ProofsContext {
  readonly store: FeedStore;
  /** The writer that holds the lock. */
  readonly writer: FeedWriter;
  readonly documents: IssuerDocuments;
  /** The feed, recovered. */
  readonly feed: OpenFeed;
  /** The index of the feed's relationships. */
  readonly known: EventIndex;
  /** The available keys that may sign events, the newest first. */
  readonly held: readonly SigningKey[];
  readonly next: NextKey | undefined;
  readonly now: Date;
}

/** A key that is about to be published. */
export interface NextKey {
  readonly key: SigningKey;
  readonly published: VerificationKey;
}

/** Options of {@linkcode Issuer.checkpoint}. */
export interface CheckpointOptions {
  /** Start publishing proofs; otherwise `invalid_request` if there are none. */
  readonly init?: boolean | undefined;
  /** Rebuild every file from the feed. */
  readonly rebuild?: boolean | undefined;
  /** Signature lines of cosigners, for the current checkpoint. */
  readonly add?: string | undefined;
  /**
   * Cosigners whose lines are added, if they are valid (default: lines of any
   * key are added, without verification, and replace nothing).
   */
  readonly cosigners?: readonly NoteKey[] | undefined;
  /** Kids whose signatures the checkpoint may lose, since their keys are lost. */
  readonly drop?: readonly string[] | undefined;
  /** Called with the available keys, before they sign. */
  readonly onKeys?: ((keys: readonly SigningKey[]) => void) | undefined;
}

/** {@linkcode CheckpointOptions}, and those of a rotation. */
export interface UpdateProofsOptions extends CheckpointOptions {
  /** Sign the last checkpoint again, without new events. */
  readonly stay?: boolean | undefined;
  /** Leave out keys in an agent. */
  readonly withoutReferences?: boolean | undefined;
  /** Leave out every key that its agent does not have. */
  readonly skipMissing?: boolean | undefined;
  /** The commitment that is about to be published (default: the documents'). */
  readonly recovery?: Recovery | undefined;
  /** Whether any signature may be lost. */
  readonly dropAll?: boolean | undefined;
}

/**
 * Writes the proof files of the current feed, then replaces the checkpoint by
 * rename. After an interruption, the published checkpoint still has all its
 * files.
 *
 * @throws {SigError} as {@linkcode Issuer.checkpoint}; nothing is signed then.
 */
export async function updateProofs(
  context: ProofsContext,
  options: UpdateProofsOptions,
): Promise<Checkpoint> {
  try {
    return await update(context, options);
  } catch (error) {
    const isDamaged = isSigError(error, "proof_invalid") ||
      isSigError(error, "invalid_checkpoint") && options.add === undefined;
    throw isDamaged ? withContext(error, { hint: REBUILD }) : error;
  }
}

const REBUILD =
  "Make the proofs again from the feed: sig checkpoint --rebuild.";

async function update(
  context: ProofsContext,
  options: UpdateProofsOptions,
): Promise<Checkpoint> {
  const { documents, next, store, writer } = context;
  const uri = proofsUri(documents);
  const hasProofs = documents.metadata.proofs_uri !== undefined;
  if (!hasProofs && !options.init) {
    throw refused("invalid_request", "this issuer publishes none", {
      hint: "Begin with: sig checkpoint --init.",
    });
  }
  const origin = originOfProofs(uri);
  const keys = authorizedKeys(documents);
  const isEnded = (kid: string) => documents.keys.endOf(kid) !== undefined;
  // A rebuild needs no checkpoint: one by a thief of an ended key is ignored.
  const trusted = options.rebuild
    ? new Map([...keys].filter(([kid]) => !isEnded(kid)))
    : keys;
  const before = await readBefore(
    { ...options, init: !hasProofs },
    () => readCheckpoint(store, { origin, keys: trusted }),
  );
  if (before !== undefined && options.add !== undefined) {
    const { add, cosigners } = options;
    const note = await addSignatures(before, add, cosigners);
    await writer.replace(CHECKPOINT_PATH, encoder.encode(note));
    return before;
  }
  const start = options.rebuild ? undefined : before;
  const read = proofFiles(store);
  const tree = start === undefined
    ? new FeedTree(read)
    : await continueTree(read, context, start);
  const added = options.stay
    ? { lines: [], bytes: start?.bytes ?? 0 }
    : await readNewLines(tree, context, start?.bytes ?? 0, before);
  const written = new Set<string>();
  const write: WriteProofFiles = (files) => {
    for (const path of files.keys()) written.add(path);
    return writer.replaceAll(published(files));
  };
  const state = new StateUpdate(read, start ? undefined : write);
  const named = next === undefined
    ? keys
    : new Map([...keys, [next.key.kid, next.published]]);
  const checkpoint: Checkpoint = {
    origin,
    size: tree.size,
    root: tree.root(),
    bytes: added.bytes,
    state: await state.extend(start?.state ?? EMPTY_HASH, added.lines),
    keys: await digestOf(named),
    ...recoveryLines(options.recovery ?? documents.recovery),
  };
  const signers = context.held.filter(({ kid }) => kid !== next?.key.kid);
  const note = await signCheckpoint(checkpoint, {
    signers: next === undefined ? signers : [next.key, ...signers],
    timekeeper: signers[0],
    now: context.now,
    before,
    keys,
    mayDrop: (kid) =>
      options.dropAll === true || options.drop?.includes(kid) === true ||
      isEnded(kid),
  });
  const from = before === undefined ? "" : encodeBase64(before.root);
  await writeFiles(context, tree, state, {
    from,
    note,
    written: start === undefined ? written : undefined,
  });
  await removeOldFiles(store, writer, context.now, checkpoint, before);
  if (!hasProofs) {
    const metadata = { ...documents.metadata, proofs_uri: uri };
    await writer.replace(
      WELL_KNOWN_PATHS.metadata,
      encodeDocument(metadata, documents.limits.maxMetadataBytes),
    );
  }
  return checkpoint;
}

/** Returns the base URL of proofs, with the scheme of `jwks_uri`. */
function proofsUri({ host, metadata }: IssuerDocuments): string {
  const { protocol } = new URL(metadata.jwks_uri);
  return new URL(`${protocol}//${host}`).origin + PROOFS_PATH;
}

/** Returns the published checkpoint; a rebuild does not need one. */
async function readBefore(
  { init, rebuild }: UpdateProofsOptions,
  readPublished: () => Promise<CheckpointFile | undefined>,
): Promise<CheckpointFile | undefined> {
  const found = await readPublished().catch((error) => {
    if (rebuild && isSigError(error, "invalid_checkpoint")) return undefined;
    throw error;
  });
  if (found !== undefined || init || rebuild) return found;
  throw refused("source_not_found", "the checkpoint is missing", {
    path: CHECKPOINT_PATH,
    hint: REBUILD,
  });
}

/** Returns a reader that caches each file. */
function proofFiles(store: FeedStore): ReadProofFile {
  const found = new Map<string, Promise<Uint8Array | undefined>>();
  return async (path) => {
    const reading = found.get(path) ??
      store.read(PROOFS_PATH + path, MAX_SUBJECT_BYTES);
    found.set(path, reading);
    const bytes = await reading;
    if (bytes === undefined) throw proofInvalid(`${path} is missing`);
    return bytes;
  };
}

/** Returns the tree of the checkpoint, if the feed still begins with it. */
async function continueTree(
  read: ReadProofFile,
  { documents, feed }: ProofsContext,
  before: CheckpointFile,
): Promise<FeedTree> {
  const { bytes, size } = before;
  if (feed.size < bytes) throw rolledBack(before, feed.size);
  const start = Math.max(0, bytes - documents.limits.maxLineBytes - 2);
  const end = await feed.read(start, bytes - start);
  const line = end.subarray(end.lastIndexOf(LF, -2) + 1, -1);
  const tree = size > 0 && end.at(-1) !== LF
    ? undefined
    : await FeedTree.continued(read, before, line);
  if (tree === undefined) throw rewritten(size);
  return tree;
}

const LF = 0x0a;
const encoder = new TextEncoder();

/** Adds lines to the tree, and finds the subject of each. */
async function readNewLines(
  tree: FeedTree,
  { documents, feed, known }: ProofsContext,
  from: number,
  before: CheckpointFile | undefined,
): Promise<{ readonly lines: readonly NewLine[]; readonly bytes: number }> {
  const lines: NewLine[] = [];
  let bytes = from;
  const requireSame = () => {
    if (tree.size !== before?.size) return;
    const isSame = bytes === before.bytes &&
      sameBytes(tree.root(), before.root);
    if (!isSame) throw rewritten(before.size);
  };
  requireSame();
  for await (const { bytes: line } of readLines(feed, from)) {
    tree.add(line);
    bytes += line.length + 1;
    requireSame();
    const { header, payload } = documents.parseLine(line);
    const event = parseEventPayload(payload);
    const home = known.relationship(event.relationship_id)?.home;
    if (home === undefined) continue;
    const isMoved = isUpsert(event) && event.subject !== home;
    if (isMoved && !isVoidEvent(documents.keys, header.kid, event.sequence)) {
      throw refused(
        "subject_changed",
        "an upsert gives its relationship another subject, and no proof can show that",
        {
          sequence: event.sequence,
          hint:
            "Nothing was signed. Readers go on with the feed; take proofs_uri out of sig.json.",
        },
      );
    }
    const { event_type, relationship_id, sequence, subject } = event;
    lines.push({
      event: { event_type, relationship_id, sequence, subject },
      bytes: line,
      key: subjectKey(home),
    });
  }
  if (tree.size < (before?.size ?? 0)) throw rolledBack(before!, bytes);
  return { lines, bytes };
}

/** Writes state files and tiles, then the checkpoint that needs them. */
async function writeFiles(
  { now, store, writer }: ProofsContext,
  tree: FeedTree,
  state: StateUpdate,
  { from, note, written }: {
    /** The tree hash before; empty without a checkpoint. */
    readonly from: string;
    readonly note: string;
    /** For a rebuild: the files that are written already. */
    readonly written: ReadonlySet<string> | undefined;
  },
): Promise<void> {
  const tiles = await tree.newTiles();
  const files = new Map([...tiles.made, ...state.newFiles]);
  const made = new Set(files.keys());
  const change = { at: now.getTime(), from, to: encodeBase64(tree.root()) };
  if (written !== undefined) {
    await noteRebuild(store, writer, change, made.union(written));
  } else if (files.size > 0) {
    const left = new Set([...state.left, ...tiles.left]);
    await noteChange(writer, {
      ...change,
      made: [...made.difference(left)],
      left: [...left.difference(made)],
    });
  }
  await writer.replaceAll(published(files), [
    CHECKPOINT_PATH,
    encoder.encode(note),
  ]);
}

/** Returns the proof files by their published paths. */
function published(files: ReadonlyMap<string, Uint8Array>) {
  const entries = [...files].map(([path, bytes]) =>
    [PROOFS_PATH + path, bytes] as const
  );
  return new Map(entries);
}

const PUT_BACK =
  "Nothing was signed. Put the feed back as it was published last (sig restore --dir <dir> --from <host>).";

function refused(
  code: ErrorCode,
  why: string,
  context: ErrorContext,
): SigError {
  return new SigError(code, { action: "update proofs", reason: why, context });
}

function rolledBack({ bytes, size }: Checkpoint, held: number): SigError {
  const why = `the feed has ${held} bytes, the last checkpoint ${bytes}`;
  return lost("feed_rolled_back", why, size);
}

function rewritten(size: number): SigError {
  const why =
    `up to sequence ${size} the feed is not the one of the last checkpoint`;
  return lost("feed_rewritten", why, size);
}

function lost(code: ErrorCode, why: string, known_sequence: number): SigError {
  return refused(code, why, { known_sequence, hint: PUT_BACK });
}
