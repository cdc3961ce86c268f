/** A feed held against a published copy of it. @module */

import { sameBytes, SigError } from "@sig/core";
import type { OpenFeed } from "../store/feed_store.ts";
import { replayFeed } from "./replay_feed.ts";
import type { LineRules } from "./verify_line.ts";

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
  const local = await feed.read(0, feed.size);
  const whole = local.subarray(0, local.lastIndexOf(LF) + 1);
  const shared = Math.min(whole.length, published.length);
  if (!sameBytes(whole.subarray(0, shared), published.subarray(0, shared))) {
    throw rewritten(whole, published);
  }
  if (published.length <= whole.length) return;
  const held = countLines(whole);
  const known = countLines(published);
  throw new SigError(
    "feed_rolled_back",
    `Cannot append to the feed: it ends at sequence ${held}, but the published feed at ${known}`,
    {
      context: {
        sequence: held,
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
  const { last_sequence } = await replayFeed(published, rules);
  const local = await feed.read(0, feed.size);
  const whole = local.lastIndexOf(LF) + 1;
  const held = countLines(local);
  const shared = Math.min(whole, published.length);
  if (!sameBytes(local.subarray(0, shared), published.subarray(0, shared))) {
    throw rewritten(local.subarray(0, whole), published);
  }
  if (published.length <= whole) return { restored: 0, last_sequence: held };
  if (whole < local.length) await feed.cutTail(whole, now);
  await feed.append(published.subarray(whole));
  return { restored: last_sequence - held, last_sequence };
}

function countLines(feed: Uint8Array): number {
  let lines = 0;
  for (let at = feed.indexOf(LF); at >= 0; at = feed.indexOf(LF, at + 1)) {
    lines++;
  }
  return lines;
}

function rewritten(local: Uint8Array, published: Uint8Array): SigError {
  let at = 0;
  while (at < local.length && local[at] === published[at]) at++;
  const sequence = countLines(local.subarray(0, at)) + 1;
  return new SigError(
    "feed_rewritten",
    `Cannot use the feed: it and the published feed have different lines from sequence ${sequence} on`,
    {
      context: {
        sequence,
        hint:
          "Nothing was written. Find out which of the two readers have seen; only that one can go on.",
      },
    },
  );
}
