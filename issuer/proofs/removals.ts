/** Removal of proof files that are no longer needed. @module */

import {
  type Checkpoint,
  encodeBase64,
  isProofFile,
  type OpenedCheckpoint,
} from "@sig/jose/proofs";
import type { FeedStore, FeedWriter } from "../store/feed_store.ts";
import { PROOFS_PATH } from "./checkpoint_file.ts";

/** How long the files of an old checkpoint are kept for its readers. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** Interval between two removals. */
const LOOK_MS = 60 * 60 * 1000;

/** A line of the journal: the changes made by an update of the proofs. */
interface ProofsChange {
  /** Time of the update in milliseconds. */
  readonly at: number;
  /** The tree hash before. */
  readonly from: string;
  /** The tree hash of the new checkpoint. */
  readonly to: string;
  /** Files that only the new checkpoint needs. */
  readonly made: readonly string[];
  /** Files that only the old checkpoint needs. */
  readonly left: readonly string[];
}

/** Below the store's root, and never published. */
const JOURNAL_PATH = "/.sig/proofs.jsonl";

/**
 * Records a change before the first of its files is written, so that the files
 * of an interrupted update can be removed.
 */
export async function noteChange(
  writer: FeedWriter,
  change: ProofsChange,
): Promise<void> {
  await writer.append(JOURNAL_PATH, encodeChanges([change]));
}

/**
 * Records a rebuild. Its files may be any, also files that are about to be
 * removed.
 *
 * @param files all files of the new checkpoint.
 */
export async function noteRebuild(
  store: FeedStore,
  writer: FeedWriter,
  change: Pick<ProofsChange, "at" | "from" | "to">,
  files: ReadonlySet<string>,
): Promise<void> {
  const changes = await readJournal(store);
  if (changes.length === 0) return;
  const unused = unusedFiles(changes, change.from);
  const named = new Set(
    changes.flatMap(({ left, made }) => [...made, ...left]),
  );
  const made = [...unused.keys()].filter((path) => files.has(path));
  const left = [...named.difference(files)].filter((path) => !unused.has(path));
  const noted = encodeChanges([...changes, { ...change, made, left }]);
  await writer.replace(JOURNAL_PATH, noted);
}

/**
 * Removes files that have been unused for a day. Runs at most once an hour.
 *
 * @param published the currently published checkpoint.
 * @param before the previous checkpoint, whose time tells when this last ran.
 */
export async function removeOldFiles(
  store: FeedStore,
  writer: FeedWriter,
  now: Date,
  published: Checkpoint,
  before: OpenedCheckpoint | undefined,
): Promise<void> {
  const hourOf = (ms: number) => Math.floor(ms / LOOK_MS);
  const last = before?.time ?? null;
  if (last !== null && hourOf(last * 1000) === hourOf(now.getTime())) return;
  const changes = await readJournal(store);
  const end = now.getTime() - KEPT_MS;
  const unused = unusedFiles(changes, encodeBase64(published.root));
  for (const [path, at] of unused) {
    if (at <= end && isProofFile(path)) await writer.remove(PROOFS_PATH + path);
  }
  const kept = changes.filter(({ at }) => at > end);
  if (kept.length < changes.length) {
    await writer.replace(JOURNAL_PATH, encodeChanges(kept));
  }
}

/**
 * Returns the files that the published tree does not need, with the times since
 * when.
 */
function unusedFiles(
  changes: readonly ProofsChange[],
  root: string,
): ReadonlyMap<string, number> {
  const leftAt = new Map<string, number>();
  for (const [i, { at, from, made, left, to }] of changes.entries()) {
    const next = changes[i + 1]?.from ?? root;
    for (const path of made) leftAt.delete(path);
    // Neither: the line of a later change was lost, so nothing is known.
    const unused = next === to ? left : next === from ? made : [];
    for (const path of unused) leftAt.set(path, at);
  }
  return leftAt;
}

async function readJournal(
  store: FeedStore,
): Promise<readonly ProofsChange[]> {
  const bytes = await store.read(JOURNAL_PATH, Number.MAX_SAFE_INTEGER);
  return new TextDecoder().decode(bytes).split("\n").flatMap((line) => {
    try {
      return JSON.parse(line) as ProofsChange;
    } catch {
      // A crash can leave an incomplete line.
      return [];
    }
  });
}

function encodeChanges(changes: readonly ProofsChange[]): Uint8Array {
  const lines = changes.map((change) => `${JSON.stringify(change)}\n`);
  return new TextEncoder().encode(lines.join(""));
}
