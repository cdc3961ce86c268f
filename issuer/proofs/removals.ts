/** Files of proofs that nobody needs any more, and when they go. @module */

import { isObject } from "@sig/core/internal";
import {
  type Checkpoint,
  encodeBase64,
  isProofFile,
  type OpenedCheckpoint,
} from "@sig/jose/proofs";
import type { FeedWriter } from "../store/feed_store.ts";
import { PROOFS_PATH } from "./checkpoint_file.ts";

/** Readers that have an old checkpoint get its files for so long. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** How often it is looked. */
const LOOK_MS = 60 * 60 * 1000;

/** What an update of the proofs changes: a line of the journal. */
export interface ProofsChange {
  /** When, in milliseconds. */
  readonly at: number;
  /** The tree hash before; null if there was none. */
  readonly from: string | null;
  /** The tree hash that the new checkpoint has. */
  readonly to: string;
  /** Files that only the new checkpoint needs. */
  readonly made: readonly string[];
  /** Files that only the old checkpoint needs. */
  readonly left: readonly string[];
}

/** Notes a change before the first of its files is written. */
export async function noteChange(
  { journal }: FeedWriter,
  change: ProofsChange,
): Promise<void> {
  await journal.append(JSON.stringify(change));
}

/**
 * Removes what has been out of reach for a day: of a change that a crash broke
 * off, the files that it made. Looks at the journal once an hour only, so that
 * an update does not cost more for those before it.
 *
 * @param published the checkpoint that is published now.
 * @param before the one before, which says when it was looked at.
 */
export async function removeOldFiles(
  writer: FeedWriter,
  now: Date,
  published: Checkpoint,
  before: OpenedCheckpoint | undefined,
): Promise<void> {
  const hourOf = (ms: number) => Math.floor(ms / LOOK_MS);
  const last = before?.time ?? null;
  if (last !== null && hourOf(last * 1000) === hourOf(now.getTime())) return;
  const { journal } = writer;
  const root = encodeBase64(published.root);
  const lines = (await journal.read()).split("\n");
  const changes = lines.flatMap((line) => readChange(line) ?? []);
  const leftAt = new Map<string, number>();
  for (const [i, { at, made, left, to }] of changes.entries()) {
    const next = changes[i + 1];
    const isDone = to === (next === undefined ? root : next.from);
    for (const path of made) leftAt.delete(path);
    for (const path of isDone ? left : made) leftAt.set(path, at);
  }
  const end = now.getTime() - KEPT_MS;
  for (const [path, at] of leftAt) {
    if (at <= end && isProofFile(path)) {
      await writer.remove(PROOFS_PATH + path);
    }
  }
  const kept = changes.filter(({ at }) => at > end);
  if (kept.length === changes.length) return;
  await journal.replace(
    kept.map((change) => `${JSON.stringify(change)}\n`).join(""),
  );
}

/** A crash can leave half a line. */
function readChange(line: string): ProofsChange | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value as unknown as ProofsChange : undefined;
  } catch {
    return undefined;
  }
}
