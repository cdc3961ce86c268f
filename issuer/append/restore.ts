/** Compares a feed with its published copy, and restores its end. @module */

import { SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { LineRules } from "../documents/documents.ts";
import { replayFeed } from "./verify_feed.ts";
import { linesIn, readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** The result of {@linkcode Issuer.restore}. */
export interface RestoredFeed {
  /** Number of events that were restored; 0 if none was missing. */
  readonly restored: number;
  /** Sequence of the last event after the restore. */
  readonly last_sequence: number;
}

const LF = 0x0a;

/**
 * Refuses a feed that ends before the published copy or differs from it: after
 * an append, every reader would refuse the issuer.
 *
 * @throws {SigError} `feed_rolled_back`, `feed_rewritten`
 */
export async function requireNotBehind(
  feed: OpenFeed,
  published: Uint8Array,
): Promise<void> {
  const { whole, lines } = await compareFeeds(feed, published);
  if (published.length <= whole) return;
  const known = countLines(published);
  throw new SigError("feed_rolled_back", {
    action: "append to the feed",
    reason: `it ends at sequence ${lines}, but the published feed at ${known}`,
    context: {
      sequence: lines,
      known_sequence: known,
      hint:
        "Nothing was written. Bring the missing events back: sig restore --from with the same source.",
    },
  });
}

/**
 * Restores the lost end of a feed from the published copy: verifies every
 * published line with the issuer's own keys, then appends the missing bytes in
 * one durable write. An unfinished line is saved first. Nothing is written if
 * the published copy does not continue the local lines byte for byte.
 *
 * @throws {SigError} `feed_rewritten`, the first fault of a published line,
 * `write_failed`.
 */
export async function restoreFeed(
  feed: OpenFeed,
  published: Uint8Array,
  rules: LineRules,
  now: Date,
): Promise<RestoredFeed> {
  if (published.length > 0 && published.at(-1) !== LF) {
    throw new SigError("incomplete_line", {
      action: "restore the feed",
      reason: "the published one does not end in a line end",
      context: { line: countLines(published) + 1 },
    });
  }
  const { last_sequence } = await replayFeed(published, rules, {
    keepOnly: null,
  });
  const { whole, lines } = await compareFeeds(feed, published);
  if (published.length <= whole) return { restored: 0, last_sequence: lines };
  await appendRest(feed, published, whole, now);
  return { restored: last_sequence - lines, last_sequence };
}

/** Saves an unfinished line, then appends what follows the complete ones. */
export async function appendRest(
  feed: OpenFeed,
  published: Uint8Array,
  whole: number,
  now: Date,
): Promise<void> {
  if (whole < feed.size) await feed.cutTail(whole, now);
  await feed.append(published.subarray(whole));
}

/**
 * Compares the complete lines that the feed and another copy of it both have.
 *
 * @param copy the name of the other copy, for messages.
 * @returns bytes and number of the feed's complete lines.
 * @throws {SigError} `feed_rewritten`
 */
export async function compareFeeds(
  feed: OpenFeed,
  published: Uint8Array,
  copy = "the published feed",
): Promise<{ readonly whole: number; readonly lines: number }> {
  let whole = 0;
  let lines = 0;
  for await (const { bytes, terminated } of readLines(feed, 0)) {
    // An unfinished line is not compared: an append cuts it off first.
    if (!terminated) break;
    const { length } = bytes;
    const other = published.subarray(whole, whole + length + 1);
    const isSame = sameBytes(
      bytes.subarray(0, other.length),
      other.subarray(0, length),
    );
    if (!isSame || (other[length] ?? LF) !== LF) {
      throw rewritten(lines + 1, copy);
    }
    whole += length + 1;
    lines++;
  }
  return { whole, lines };
}

/** Returns the number of complete lines. */
export function countLines(feed: Uint8Array): number {
  return [...linesIn(feed)].length;
}

function rewritten(sequence: number, copy: string): SigError {
  return new SigError("feed_rewritten", {
    action: "use the feed",
    reason: `it and ${copy} have different lines from sequence ${sequence} on`,
    context: {
      sequence,
      hint:
        "Nothing was written. Find out which of the two readers have seen; only that one can go on.",
    },
  });
}
