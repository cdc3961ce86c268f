/** Comparing a feed with its published copy, and restoring its end. @module */

import { SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { LineRules } from "../documents/documents.ts";
import { replayFeed } from "./verify_feed.ts";
import { readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** What {@linkcode Issuer.restore} did. */
export interface RestoredFeed {
  /** Events that were brought back; 0 when nothing was missing. */
  readonly restored: number;
  /** Sequence of the last event now. */
  readonly last_sequence: number;
}

const LF = 0x0a;

/**
 * Refuses a feed that ends before the published one, or says something else:
 * what is appended to it would make every reader refuse the issuer.
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
  throw new SigError(
    "feed_rolled_back",
    `Cannot append to the feed: it ends at sequence ${lines}, but the published feed at ${known}`,
    {
      context: {
        sequence: lines,
        known_sequence: known,
        hint:
          "Nothing was written. Bring the missing events back: sig restore --from with the same source.",
      },
    },
  );
}

/**
 * Brings a feed that has lost its end up to the published one: appends the
 * missing bytes in one durable write, after every line of the published feed
 * was verified with the issuer's own keys. An unfinished line is kept aside.
 * Nothing is written when the published feed does not continue the lines that
 * are here byte for byte.
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
    throw new SigError(
      "incomplete_line",
      "Cannot restore the feed: the published one does not end in a line end",
      { context: { line: countLines(published) + 1 } },
    );
  }
  const { last_sequence } = await replayFeed(published, rules, {
    keepOnly: null,
  });
  const { whole, lines } = await compareFeeds(feed, published);
  if (published.length <= whole) return { restored: 0, last_sequence: lines };
  await appendRest(feed, published, whole, now);
  return { restored: last_sequence - lines, last_sequence };
}

/** Appends what follows the whole lines; an unfinished line is kept aside. */
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
 * Compares the feed with another copy of it, as far as both have whole lines.
 *
 * @param copy what the other one is called, in a message.
 * @returns the bytes of the feed's whole lines, and how many these are.
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
    // An unfinished line is cut off before an append: it contradicts nothing.
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

/** Lines that have an end. */
export function countLines(feed: Uint8Array): number {
  let lines = 0;
  for (let at = feed.indexOf(LF); at >= 0; at = feed.indexOf(LF, at + 1)) {
    lines++;
  }
  return lines;
}

function rewritten(sequence: number, copy: string): SigError {
  return new SigError(
    "feed_rewritten",
    `Cannot use the feed: it and ${copy} have different lines from sequence ${sequence} on`,
    {
      context: {
        sequence,
        hint:
          "Nothing was written. Find out which of the two readers have seen; only that one can go on.",
      },
    },
  );
}
