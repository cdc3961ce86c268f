/** Publishes the proofs of a feed (docs/protocol.md §13.6). @module */

import { isSigError, type Warning, WELL_KNOWN_PATHS } from "@sig/core";
import { withContext } from "@sig/core/internal";
import type { SigningKey, VerificationKey } from "@sig/jose/keys";
import {
  type Checkpoint,
  EMPTY_HASH,
  encodeBase64,
  MAX_SUBJECT_BYTES,
  type NoteKey,
  originOfProofs,
  proofInvalid,
} from "@sig/jose/proofs";
import { type Recovery, recoveryLines } from "@sig/jose/recovery";
import type { FeedSession } from "../append/feed_session.ts";
import { encodeDocument } from "../documents/build_documents.ts";
import type { IssuerDocuments } from "../documents/documents.ts";
import {
  authorizedKeys,
  heldKeys,
  isKeptElsewhere,
} from "../documents/signing_key.ts";
import { isReferenced } from "../keys/key_store.ts";
import type { FeedStore, FeedWriter } from "../store/feed_store.ts";
import {
  addSignatures,
  CHECKPOINT_PATH,
  type CheckpointFile,
  digestOf,
  PROOFS_PATH,
  readCheckpoint,
  signCheckpoint,
} from "./checkpoint_file.ts";
import {
  continueTree,
  FeedTree,
  type ReadFeed,
  readNewLines,
  refused,
} from "./feed_tree.ts";
import { noteChange, noteRebuild, removeOldFiles } from "./removals.ts";
import {
  type ReadProofFile,
  StateUpdate,
  type WriteProofFiles,
} from "./state_update.ts";

const encoder = new TextEncoder();

/** What an update reads and writes. */
interface ProofsContext extends ReadFeed {
  readonly store: FeedStore;
  /** The writer that holds the lock. */
  readonly writer: FeedWriter;
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
export interface PublishProofsOptions extends CheckpointOptions {
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
 * Brings the proofs up to the feed's end, signed with every available key:
 * writes the proof files, then replaces the checkpoint by rename. After an
 * interruption, the published checkpoint still has all its files.
 *
 * @param next A new key, which the checkpoint introduces.
 * @throws {SigError} as {@linkcode Issuer.checkpoint}; nothing is signed then.
 */
export async function publishProofs(
  session: FeedSession,
  writer: FeedWriter,
  options: PublishProofsOptions,
  next?: NextKey,
): Promise<Checkpoint> {
  const documents = await session.readDocuments();
  const held = await heldKeys(documents, session.sources, options);
  options.onKeys?.(held);
  const { now, store } = session.options;
  try {
    return await session.withFeed(writer, documents, (feed, known) => {
      const context = { documents, feed, held, known, next, store, writer };
      return update({ ...context, now: now() }, options);
    });
  } catch (error) {
    const isDamaged = isSigError(error, "proof_invalid") ||
      isSigError(error, "invalid_checkpoint") && options.add === undefined;
    throw isDamaged ? withContext(error, { hint: REBUILD }) : error;
  }
}

/** Publishes proofs with the keys of no agent, if the issuer publishes any. */
export async function publishProofsIfAny(
  session: FeedSession,
  writer: FeedWriter,
  options: PublishProofsOptions = {},
): Promise<readonly Warning[]> {
  const documents = await session.readDocuments();
  if (documents.metadata.proofs_uri === undefined) return [];
  if (await newestIsElsewhere(session, documents)) {
    const detail =
      "the newest key is in an agent; sig checkpoint brings the proofs up to the feed's end";
    return [{ code: "proofs_behind", detail }];
  }
  await publishProofs(session, writer, { ...options, withoutReferences: true });
  return [];
}

async function newestIsElsewhere(
  session: FeedSession,
  documents: IssuerDocuments,
): Promise<boolean> {
  for (const source of session.sources) {
    if (await isKeptElsewhere(documents, source)) return true;
  }
  return isReferenced(await session.signingKey(documents));
}

/** The events are already durable: proofs that fail are only behind. */
export function proofsBehind(error: unknown): readonly Warning[] {
  if (!isSigError(error)) throw error;
  const detail = `the proofs were not updated: ${error.message}`;
  return [{ code: "proofs_behind", detail }];
}

const REBUILD =
  "Make the proofs again from the feed: sig checkpoint --rebuild.";

async function update(
  context: ProofsContext,
  options: PublishProofsOptions,
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
    keys: digestOf(named),
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
  { init, rebuild }: PublishProofsOptions,
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
