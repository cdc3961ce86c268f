/** Files of proofs that nobody needs any more, and when they go. @module */

import {
  type Checkpoint,
  encodeBase64,
  isProofFile,
  type OpenedCheckpoint,
} from "@sig/jose/proofs";
import type { FeedStore, FeedWriter } from "../store/feed_store.ts";
import { PROOFS_PATH } from "./checkpoint_file.ts";

/** Readers that have an old checkpoint get its files for so long. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** How often it is looked. */
const LOOK_MS = 60 * 60 * 1000;

/** What an update of the proofs changes: a line of the journal. */
export interface ProofsChange {
  /** When, in milliseconds. */
  readonly at: number;
  /** The tree hash before. */
  readonly from: string;
  /** The tree hash that the new checkpoint has. */
  readonly to: string;
  /** Files that only the new checkpoint needs. */
  readonly made: readonly string[];
  /** Files that only the old checkpoint needs. */
  readonly left: readonly string[];
}

/** Below the store's root, and never published. */
const JOURNAL_PATH = "/.sig/proofs.jsonl";

/**
 * Notes a change before the first of its files is written: if a crash breaks it
 * off, the files that it made are removed.
 */
export async function noteChange(
  writer: FeedWriter,
  change: ProofsChange,
): Promise<void> {
  await writer.append(JOURNAL_PATH, encodeChanges([change]));
}

/** Forgets what was to be removed: some of it is about to be used again. */
export async function forgetChanges(writer: FeedWriter): Promise<void> {
  await writer.remove(JOURNAL_PATH);
}

/**
 * Removes what has been out of reach for a day. Looks once an hour only.
 *
 * @param published the checkpoint that is published now.
 * @param before the one before, which says when it was looked at.
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
  const leftAt = new Map<string, number>();
  for (const [i, { at, made, left, to }] of changes.entries()) {
    const next = changes[i + 1]?.from ?? encodeBase64(published.root);
    for (const path of made) leftAt.delete(path);
    for (const path of to === next ? left : made) leftAt.set(path, at);
  }
  const end = now.getTime() - KEPT_MS;
  for (const [path, at] of leftAt) {
    if (at <= end && isProofFile(path)) await writer.remove(PROOFS_PATH + path);
  }
  const kept = changes.filter(({ at }) => at > end);
  if (kept.length < changes.length) {
    await writer.replace(JOURNAL_PATH, encodeChanges(kept));
  }
}

async function readJournal(
  store: FeedStore,
): Promise<readonly ProofsChange[]> {
  const bytes = await store.read(JOURNAL_PATH, Number.MAX_SAFE_INTEGER);
  return new TextDecoder().decode(bytes).split("\n").flatMap((line) => {
    try {
      return JSON.parse(line) as ProofsChange;
    } catch {
      // A crash can leave half a line.
      return [];
    }
  });
}

function encodeChanges(changes: readonly ProofsChange[]): Uint8Array {
  const lines = changes.map((change) => `${JSON.stringify(change)}\n`);
  return new TextEncoder().encode(lines.join(""));
}
