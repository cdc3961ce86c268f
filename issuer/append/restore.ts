/** Comparing a feed with its published copy, and restoring its end. @module */

import { SigError } from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { LineRules } from "../documents/documents.ts";
import { replayFeed } from "./verify_feed.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** What {@linkcode Issuer.restore} did. */
export interface RestoredFeed {
  /** Events that were brought back; 0 when nothing was missing. */
  readonly restored: number;
  /** Sequence of the last event now. */
  readonly last_sequence: number;
}

const LF = 0x0a;

/** Bytes of the local feed that are looked at at once. */
const PIECE_BYTES = 1024 * 1024;

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
 * Reads the feed piece by piece beside another copy of it.
 *
 * @param copy what the other one is called, in a message.
 * @returns the bytes of its whole lines, and how many these are.
 * @throws {SigError} `feed_rewritten`
 */
export async function compareFeeds(
  feed: OpenFeed,
  published: Uint8Array,
  copy = "the published feed",
): Promise<{ readonly whole: number; readonly lines: number }> {
  let whole = 0;
  let lines = 0;
  // The first byte that differs counts once its line has an end: what is
  // unfinished here says nothing.
  let differs: number | undefined;
  for (let at = 0; at < feed.size;) {
    const piece = await feed.read(at, PIECE_BYTES);
    if (piece.length === 0) break;
    const shared = piece.subarray(0, Math.max(0, published.length - at));
    const other = published.subarray(at, at + piece.length);
    if (differs === undefined && !sameBytes(shared, other)) {
      let same = 0;
      while (shared[same] === other[same]) same++;
      differs = at + same;
      lines += countLines(piece.subarray(0, same));
    }
    const last = piece.lastIndexOf(LF);
    if (last >= 0) whole = at + last + 1;
    if (differs !== undefined && whole > differs) {
      throw rewritten(lines + 1, copy);
    }
    if (differs === undefined) lines += countLines(piece);
    at += piece.length;
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
