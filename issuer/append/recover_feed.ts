/**
 * Brings the index up to the end of the feed, and mends the feed's end after a
 * crash (docs/protocol.md §11).
 *
 * @module
 */

import {
  compareInstants,
  isSigError,
  parseTimestamp,
  SigError,
  type SigEvent,
} from "@sig/core";
import { sameBytes } from "@sig/core/internal";
import type { LineRules } from "../documents/documents.ts";
import { verifyEvent, verifyLine } from "./verify_feed.ts";
import type { FeedHead, FeedIndex } from "../index/feed_index.ts";
import { type FeedLine, readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** Something that was mended; nothing acknowledged is ever lost by it. */
export interface RecoveryNotice {
  /**
   * `line_completed`: a whole event lacked its LF, which was added.
   * `tail_cut`: an unfinished write was kept aside and cut off.
   * `index_rebuilt`: the index did not fit the feed, all of which was verified.
   */
  readonly kind: "line_completed" | "tail_cut" | "index_rebuilt";
  /** In words. */
  readonly detail: string;
  /** Where the bytes that were cut off are kept. */
  readonly kept?: string;
}

/** What recovery needs besides the feed. */
export interface RecoveryOptions {
  /** The clock, for the name of a torn tail. */
  readonly now: () => Date;
  /** Forget events that the index knows of and the feed lacks. */
  readonly acceptRollback?: boolean;
  /** Told of whatever was mended. */
  readonly onRecovery?: ((notice: RecoveryNotice) => void) | undefined;
}

/** Events added to the index in one transaction. */
const BATCH = 1_000;
const NUL = 0x00;
const LF = Uint8Array.of(0x0a);

/**
 * Verifies what the index does not know yet. Only the bytes behind its head are
 * read, unless it does not belong to this feed: then all of them.
 *
 * A line that is complete and wrong is an error and stays as it is. The one
 * exception are the zeros that a power cut leaves where a write never reached
 * the disk: from the first line behind the head that holds a NUL byte on, the
 * bytes count as torn. Where the head is lost as well, this is so only when no
 * well-formed line follows.
 *
 * A feed that lacks an event which is known to have been in it is refused, and
 * nothing is changed.
 *
 * @throws {SigError} the first fault of a line, `feed_rolled_back`,
 * `feed_rewritten`, `write_failed`, `store_unavailable`
 * @throws {IndexError} when the index can't be used.
 */
export async function recoverFeed(
  feed: OpenFeed,
  index: FeedIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  const before = index.head;
  const found = await findStart(feed, index, rules);
  if (found?.bytes === feed.size) return index.startFrom(found);
  const stale = found === undefined ? index.stored() : undefined;
  if (options.acceptRollback !== true) {
    // What this process has seen counts as well: the file may be behind it.
    const seen = [found === before ? undefined : before, stale];
    for (const known of new Set(seen)) {
      if (known !== undefined) await requireSeenEvent(feed, known, rules);
    }
  }
  if (stale === undefined) {
    index.startFrom(found ?? beginning(feed, rules.issuer));
    return await readOn(feed, index, rules, options);
  }
  index.reset();
  try {
    index.startFrom(beginning(feed, rules.issuer));
    await readOn(feed, index, rules, options);
  } catch (error) {
    // Else a copy from before, put in the place of this feed, would pass.
    index.reset(stale, before);
    throw error;
  }
  options.onRecovery?.({
    kind: "index_rebuilt",
    detail: "the index did not fit the feed, which was verified again",
  });
}

/** Verifies and adds the lines after the index's head. */
async function readOn(
  feed: OpenFeed,
  index: FeedIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  for await (const line of readLines(feed, index.head!.bytes)) {
    if (!line.terminated) {
      await mendTail(line, feed, index, rules, options);
      break;
    }
    try {
      index.add(
        await verifyLine(line.bytes, index, rules),
        line.bytes.slice(),
      );
    } catch (error) {
      if (
        !isSigError(error) || !line.bytes.includes(NUL) ||
        // The index may be behind what was acknowledged: what a good line
        // follows is damage, not the unfinished write of a power cut.
        await isFollowed(line, feed, rules)
      ) throw unusable(error);
      await cutOff(line.offset, feed, options);
      break;
    }
    if (index.pending >= BATCH) index.flush();
  }
  index.flush();
}

/** The furthest place up to which this feed is known to be verified. */
async function findStart(
  feed: OpenFeed,
  index: FeedIndex,
  rules: LineRules,
): Promise<FeedHead | undefined> {
  const { head } = index;
  const isKept = head !== undefined && await fits(head, feed, rules.issuer);
  // Nobody has written since: the file need not be read.
  if (isKept && head.bytes === feed.size) return head;
  const stored = index.stored();
  if (stored === undefined) return undefined;
  if (isKept && index.continues(stored)) return head;
  if (!await fits(stored, feed, rules.issuer)) return undefined;
  return await headIsVerified(stored, index, feed, rules) ? stored : undefined;
}

/**
 * Whether the signed line at the stored head says what that says, and the tables
 * know it. The head alone is not believed: an attacker who can write it would
 * choose the sequence that is signed next.
 */
async function headIsVerified(
  mark: FeedHead,
  index: FeedIndex,
  feed: OpenFeed,
  rules: LineRules,
): Promise<boolean> {
  if (mark.sequence === 0) return mark.latest_issued_at === null;
  const { length } = mark.last_line;
  const offset = mark.bytes - length - 1;
  const before = offset === 0 ? LF : await feed.read(offset - 1, 1);
  const event = await provenEvent(mark.last_line, rules);
  if (event?.sequence !== mark.sequence || before[0] !== LF[0]) return false;
  const known = index.event(event.event_id);
  return known?.sequence === mark.sequence && known.offset === offset &&
    known.bytes === length && isNotBefore(mark.latest_issued_at, event);
}

function isNotBefore(latest: string | null, { issued_at }: SigEvent): boolean {
  const a = parseTimestamp(latest);
  const b = parseTimestamp(issued_at);
  return a !== undefined && b !== undefined && compareInstants(a, b) >= 0;
}

function beginning(feed: OpenFeed, issuer: string): FeedHead {
  return {
    issuer,
    identity: feed.identity,
    bytes: 0,
    sequence: 0,
    latest_issued_at: null,
    last_line: new Uint8Array(),
  };
}

/** Whether the index was made from this feed: its last line is in its place. */
async function fits(
  mark: FeedHead,
  feed: OpenFeed,
  issuer: string,
): Promise<boolean> {
  if (mark.issuer !== issuer || mark.identity !== feed.identity) return false;
  if (mark.sequence === 0) return mark.bytes === 0;
  const { length } = mark.last_line;
  const offset = mark.bytes - length - 1;
  if (offset < 0 || mark.bytes > feed.size) return false;
  const found = await feed.read(offset, length + 1);
  return found[length] === LF[0] &&
    sameBytes(found.subarray(0, length), mark.last_line);
}

/** Someone may have fetched a whole event already, so it is kept. */
async function mendTail(
  line: FeedLine,
  feed: OpenFeed,
  index: FeedIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  let event: SigEvent;
  try {
    event = await verifyLine(line.bytes, index, rules);
  } catch (error) {
    if (!isSigError(error)) throw error;
    await cutOff(line.offset, feed, options);
    return;
  }
  await feed.append(LF);
  index.add(event, line.bytes.slice());
  options.onRecovery?.({
    kind: "line_completed",
    detail: "the feed's last event lacked its line end, which was added",
  });
}

async function cutOff(
  offset: number,
  feed: OpenFeed,
  options: RecoveryOptions,
): Promise<void> {
  const bytes = feed.size - offset;
  const kept = await feed.cutTail(offset, options.now());
  options.onRecovery?.({
    kind: "tail_cut",
    detail: `${bytes} bytes of an unfinished write were cut off and kept aside`,
    kept,
  });
}

/** Whether any line behind this one is well-formed: then it was not the last. */
async function isFollowed(
  line: FeedLine,
  feed: OpenFeed,
  rules: LineRules,
): Promise<boolean> {
  const behind = line.offset + line.bytes.length + 1;
  for await (const { bytes } of readLines(feed, behind)) {
    try {
      rules.parseLine(bytes);
      return true;
    } catch (error) {
      if (!isSigError(error)) throw error;
    }
  }
  return false;
}

/** A fault inside of the feed stops the issuer: it is never repaired. */
function unusable(error: unknown): unknown {
  if (!isSigError(error)) return error;
  const { line } = error.context;
  return new SigError(
    error.code,
    { action: "use the feed", reason: `line ${line}: ${error.reason}` },
    {
      context: {
        ...error.context,
        hint: "Nothing was changed. Put the feed back from a copy.",
      },
      cause: error,
    },
  );
}

/**
 * The event of the line that a head keeps, if a key of this issuer signed it.
 * Nobody can make that up: so it was in the feed once, at its sequence.
 */
async function provenEvent(
  line: Uint8Array,
  rules: LineRules,
): Promise<SigEvent | undefined> {
  try {
    const event = await verifyEvent(line, rules);
    return event.issuer === rules.issuer ? event : undefined;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return undefined;
  }
}

/**
 * Refuses a feed that has lost an event which was in it: a copy from before, or
 * another history. What is appended to such a feed would make readers that have
 * seen the lost events refuse it permanently. Nothing is changed.
 *
 * @throws {SigError} `feed_rolled_back`, `feed_rewritten`
 */
async function requireSeenEvent(
  feed: OpenFeed,
  { last_line }: FeedHead,
  rules: LineRules,
): Promise<void> {
  const known = await provenEvent(last_line, rules);
  if (known === undefined) return;
  let sequence = 0;
  for await (const { bytes, terminated } of readLines(feed, 0)) {
    if (sequence + 1 === known.sequence) {
      if (sameBytes(bytes, last_line)) return;
      // The verification of that line names the damage.
      if (terminated && await provenEvent(bytes, rules) === undefined) return;
      if (terminated) throw lost("feed_rewritten", known, known.sequence);
    }
    if (terminated) sequence++;
  }
  throw lost("feed_rolled_back", known, sequence);
}

function lost(
  code: "feed_rolled_back" | "feed_rewritten",
  { event_id, sequence }: SigEvent,
  held: number,
): SigError {
  const known = `sequence ${sequence} (event_id ${JSON.stringify(event_id)})`;
  const why = code === "feed_rolled_back"
    ? `it ends at sequence ${held}, but the index beside it knows ${known}`
    : `the index beside it knows another event at ${known}`;
  return new SigError(code, `Cannot append to the feed: ${why}`, {
    context: {
      sequence: held,
      known_sequence: sequence,
      hint:
        "Nothing was changed. Put the feed back as it was published last (sig restore --dir <dir> --from <host>). Only if nobody has seen the lost events: accept the rollback (--accept-rollback), or remove .sig/index.db.",
    },
  });
}
