/**
 * Verifies what the index lacks, and repairs the feed's end after a crash
 * (docs/protocol.md §11).
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
import { encodeBase64Url } from "@sig/jose/internal";
import { digestStatements } from "@sig/jose/recovery";
import type { LineRules } from "../documents/documents.ts";
import { type VerifiedLine, verifyEvent, verifyLine } from "./verify_feed.ts";
import type { EventIndex } from "../index/feed_index.ts";
import type { FeedHead } from "../index/index_file.ts";
import { type FeedLine, readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";

/** A repair after a crash. A repair never loses an acknowledged event. */
export interface RecoveryNotice {
  /**
   * `line_completed`: a complete event lacked its LF, which was added.
   * `tail_cut`: an unfinished write was saved and cut off. `index_rebuilt`: the
   * index did not match the feed, and the whole feed was verified.
   */
  readonly kind: "line_completed" | "tail_cut" | "index_rebuilt";
  /** Description for people. */
  readonly detail: string;
  /** Path where the bytes that were cut off are saved. */
  readonly kept?: string;
}

/** What recovery needs besides the feed. */
interface RecoveryOptions {
  /** The clock, for the file name of a torn tail. */
  readonly now: () => Date;
  /** Forget events that the index has and the feed lacks. */
  readonly acceptRollback?: boolean;
  readonly onRecovery?: ((notice: RecoveryNotice) => void) | undefined;
}

/** Number of events added to the index in one transaction. */
const BATCH = 1_000;
const NUL = 0x00;
const LF = Uint8Array.of(0x0a);

/**
 * Verifies the lines that are not in the index yet. A head of the index is a
 * position up to which lines were verified, with the last of these lines.
 *
 * 1. The head in memory or in the file belongs to this feed: only the lines
 *    after it are read.
 * 2. There is no head: every line is read.
 * 3. The head belongs to another feed: the index is emptied, and every line is
 *    read. If a line is faulty, the index keeps the former heads, since it would
 *    otherwise accept an older copy in the place of the feed.
 *
 * In each case, a feed without the last line of a known head is refused first.
 *
 * A line that is complete but wrong is an error and is not changed. The only
 * exception: a power cut leaves zeros where a write never reached the disk.
 * From the first line after the head that contains a NUL byte, the bytes count
 * as torn. If the head is lost as well, this applies only if no well-formed
 * line follows.
 *
 * @throws {SigError} the first fault of a line, `feed_rolled_back`,
 * `feed_rewritten`, `write_failed`, `store_unavailable`
 * @throws {IndexError} if the index can't be used.
 */
export async function recoverFeed(
  feed: OpenFeed,
  index: EventIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  const memoryHead = index.head;
  const ownHead = await findOwnHead(feed, index, rules);
  if (ownHead?.bytes === feed.size) return index.startFrom(ownHead);
  const foreignHead = ownHead === undefined ? index.stored() : undefined;
  if (options.acceptRollback !== true) {
    // The index file may be behind the events that this process has verified.
    for (const head of new Set([memoryHead, foreignHead])) {
      if (head === undefined || head === ownHead) continue;
      await requireSeenEvent(feed, head, rules);
    }
  }
  const start = ownHead ?? beginning(feed, rules);
  if (foreignHead === undefined) {
    index.startFrom(start);
    return await readOn(feed, index, rules, options);
  }
  index.reset();
  try {
    index.startFrom(start);
    await readOn(feed, index, rules, options);
  } catch (error) {
    index.reset(foreignHead, memoryHead);
    throw error;
  }
  // A new statement changes which events are void; that is no damage.
  const isExpected = foreignHead.identity.split(" ")[0] === feed.identity &&
    foreignHead.identity !== start.identity;
  if (isExpected) return;
  options.onRecovery?.({
    kind: "index_rebuilt",
    detail: "the index did not fit the feed, which was verified again",
  });
}

/** Verifies and adds the lines after the index's head. */
async function readOn(
  feed: OpenFeed,
  index: EventIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  for await (const line of readLines(feed, index.head!.bytes)) {
    if (!line.terminated) {
      await repairTail(line, feed, index, rules, options);
      break;
    }
    try {
      const { event, isVoid } = await verifyLine(line.bytes, index, rules);
      index.add(event, line.bytes.slice(), isVoid);
    } catch (error) {
      if (
        !isSigError(error) || !line.bytes.includes(NUL) ||
        // Bytes followed by a valid line are damage, not an unfinished write.
        await isFollowed(line, feed, rules)
      ) throw unusable(error);
      await cutOff(line.offset, feed, options);
      break;
    }
    if (index.pending >= BATCH) index.flush();
  }
  index.flush();
}

/** Returns the last head of the index that belongs to this feed. */
async function findOwnHead(
  feed: OpenFeed,
  index: EventIndex,
  rules: LineRules,
): Promise<FeedHead | undefined> {
  const { head } = index;
  const isOwn = head !== undefined && await matchesFeed(head, feed, rules);
  // No other process has written since, so the file need not be read.
  if (isOwn && head.bytes === feed.size) return head;
  const stored = index.stored();
  if (stored === undefined) return undefined;
  if (isOwn && index.continues(stored)) return head;
  if (!await matchesFeed(stored, feed, rules)) return undefined;
  return await headIsVerified(stored, index, feed, rules) ? stored : undefined;
}

/**
 * Returns whether the signed line at the stored head matches the head and is in
 * the tables. The head alone is not trusted: an attacker who can write it could
 * choose the sequence that is signed next.
 */
async function headIsVerified(
  mark: FeedHead,
  index: EventIndex,
  feed: OpenFeed,
  rules: LineRules,
): Promise<boolean> {
  if (mark.sequence === 0) return mark.latest_issued_at === null;
  const { length } = mark.last_line;
  const offset = mark.bytes - length - 1;
  const before = offset === 0 ? LF : await feed.read(offset - 1, 1);
  const proven = await provenEvent(mark.last_line, rules);
  if (proven === undefined || before[0] !== LF[0]) return false;
  const { event, isVoid } = proven;
  if (event.sequence !== mark.sequence) return false;
  const known = index.event(event.event_id);
  return known?.sequence === mark.sequence && known.offset === offset &&
    known.bytes === length &&
    (isVoid || isNotBefore(mark.latest_issued_at, event));
}

function isNotBefore(latest: string | null, { issued_at }: SigEvent): boolean {
  const a = parseTimestamp(latest);
  const b = parseTimestamp(issued_at);
  return a !== undefined && b !== undefined && compareInstants(a, b) >= 0;
}

/** Differs after a new statement: other events are void then. */
function identityOf(feed: OpenFeed, { recovery }: LineRules): string {
  const { statements = [] } = recovery?.member ?? {};
  return statements.length === 0
    ? feed.identity
    : `${feed.identity} ${encodeBase64Url(digestStatements(statements))}`;
}

function beginning(feed: OpenFeed, rules: LineRules): FeedHead {
  return {
    issuer: rules.issuer,
    identity: identityOf(feed, rules),
    bytes: 0,
    sequence: 0,
    latest_issued_at: null,
    last_line: new Uint8Array(),
  };
}

/**
 * Returns whether the index was built from this feed: the feed has the head's
 * last line at its offset.
 */
async function matchesFeed(
  mark: FeedHead,
  feed: OpenFeed,
  rules: LineRules,
): Promise<boolean> {
  if (mark.issuer !== rules.issuer) return false;
  if (mark.identity !== identityOf(feed, rules)) return false;
  if (mark.sequence === 0) return mark.bytes === 0;
  const { length } = mark.last_line;
  const offset = mark.bytes - length - 1;
  if (offset < 0 || mark.bytes > feed.size) return false;
  const found = await feed.read(offset, length + 1);
  return found[length] === LF[0] &&
    sameBytes(found.subarray(0, length), mark.last_line);
}

/** A reader may already have fetched a complete event, so it is kept. */
async function repairTail(
  line: FeedLine,
  feed: OpenFeed,
  index: EventIndex,
  rules: LineRules,
  options: RecoveryOptions,
): Promise<void> {
  let verified: VerifiedLine;
  try {
    verified = await verifyLine(line.bytes, index, rules);
  } catch (error) {
    if (!isSigError(error)) throw error;
    await cutOff(line.offset, feed, options);
    return;
  }
  await feed.append(LF);
  index.add(verified.event, line.bytes.slice(), verified.isVoid);
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

/** Returns whether a later line is well-formed. */
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

/** A fault before the feed's end stops the issuer and is never repaired. */
function unusable(error: unknown): unknown {
  if (!isSigError(error)) return error;
  const { line } = error.context;
  return new SigError(error.code, {
    action: "use the feed",
    reason: `line ${line}: ${error.reason}`,
    context: {
      ...error.context,
      hint: "Nothing was changed. Put the feed back from a copy.",
    },
    cause: error,
  });
}

/** Returns the line's event if this issuer signed it: the feed had it once. */
async function provenEvent(
  line: Uint8Array,
  rules: LineRules,
): Promise<VerifiedLine | undefined> {
  try {
    const verified = await verifyEvent(line, rules);
    return verified.event.issuer === rules.issuer ? verified : undefined;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return undefined;
  }
}

/**
 * Refuses a feed that has lost an event: an older copy, or another history.
 * Readers that have seen the event would refuse what is appended to it.
 *
 * @throws {SigError} `feed_rolled_back`, `feed_rewritten`
 */
async function requireSeenEvent(
  feed: OpenFeed,
  { last_line }: FeedHead,
  rules: LineRules,
): Promise<void> {
  const known = (await provenEvent(last_line, rules))?.event;
  if (known === undefined) return;
  let sequence = 0;
  for await (const { bytes, terminated } of readLines(feed, 0)) {
    if (sequence + 1 === known.sequence) {
      if (sameBytes(bytes, last_line)) return;
      // The verification of that line reports the damage.
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
  return new SigError(code, {
    action: "append to the feed",
    reason: why,
    context: {
      sequence: held,
      known_sequence: sequence,
      hint:
        "Nothing was changed. Put the feed back as it was published last (sig restore --dir <dir> --from <host>). Only if nobody has seen the lost events: accept the rollback (--accept-rollback), or remove .sig/index.db.",
    },
  });
}
