/** Verifies lines of the issuer's own feed as a reader does. @module */

import {
  FeedRules,
  type FeedState,
  isSigError,
  parseEventPayload,
  parseTimestamp,
  Replay,
  type ReplayOptions,
  type SigEvent,
} from "@sig/core";
import { withContext } from "@sig/core/internal";
import { isVoidEvent, verifyEnvelope } from "@sig/jose/keys";
import type { LineRules } from "../documents/documents.ts";
import type { EventIndex } from "../index/feed_index.ts";
import { linesIn } from "../store/feed_lines.ts";

/** A line whose signature is valid. */
export interface VerifiedLine {
  readonly event: SigEvent;
  /** The key that signed it. */
  readonly kid: string;
  /** Whether its key had ended (docs/protocol.md §14.2). */
  readonly isVoid: boolean;
}

/**
 * Returns the event of a line after verifying its signature. Returns a promise
 * only if the key is not available yet, because a million promises are slow.
 *
 * @throws {SigError} the first fault of docs/protocol.md §2.
 */
export function verifyEvent(
  line: Uint8Array,
  { keys, parseLine, publicOnly }: LineRules,
): VerifiedLine | Promise<VerifiedLine> {
  const parsed = parseLine(line);
  const read = () => {
    // Unknown event types are refused by default.
    const event = parseEventPayload(parsed.payload, { publicOnly }) as SigEvent;
    const { kid } = parsed.header;
    return {
      event,
      kid,
      isVoid: isVoidEvent(keys, kid, event.sequence),
    };
  };
  const verdict = verifyEnvelope(parsed, keys);
  return verdict instanceof Promise ? verdict.then(read) : read();
}

/** Returns the rules of a reader that has read up to the index's head. */
export function rulesAfter(
  index: EventIndex,
  options: ReplayOptions,
): FeedRules {
  const { latest_issued_at, sequence: lastSequence } = index.head!;
  const latest = parseTimestamp(latest_issued_at);
  return new FeedRules(options, { lastSequence, latest, past: index });
}

/** Verifies the line that follows the index's head, without adding it. */
export async function verifyLine(
  line: Uint8Array,
  index: EventIndex,
  rules: LineRules,
): Promise<VerifiedLine> {
  try {
    const read = verifyEvent(line, rules);
    const verified = read instanceof Promise ? await read : read;
    rulesAfter(index, rules).accept(verified.event, verified.isVoid);
    return verified;
  } catch (error) {
    if (!isSigError(error)) throw error;
    const sequence = index.head!.sequence + 1;
    throw withContext(error, { line: sequence, sequence });
  }
}

/**
 * Verifies complete lines and replays them.
 *
 * @param onEvent called with each verified and applied event, in order.
 * @param keepOnly as in `Replay`: null keeps nothing of the state.
 * @throws {SigError} the first fault, with its line.
 */
export async function replayFeed(
  feed: Uint8Array,
  rules: LineRules,
  { onEvent, keepOnly }: {
    readonly onEvent?: (event: SigEvent, isVoid: boolean) => void;
    readonly keepOnly?: null;
  } = {},
): Promise<FeedState> {
  const { issuer, limits } = rules;
  const replay = new Replay({ issuer, limits, keepOnly });
  let line = 0;
  for (const bytes of linesIn(feed)) {
    line++;
    try {
      const read = verifyEvent(bytes, rules);
      const { event, isVoid } = read instanceof Promise ? await read : read;
      replay.apply(event, line, isVoid);
      onEvent?.(event, isVoid);
    } catch (error) {
      throw isSigError(error) ? withContext(error, { line }) : error;
    }
    await yieldToEventLoop(line);
  }
  return replay.state();
}

/** Number of lines signed or verified before yielding: about 0.1 s. */
const LINES_AT_ONCE = 500;

/**
 * Yields to timers, signals and requests every 500 lines, because signatures
 * are made and verified without waiting.
 *
 * @param done number of lines done so far.
 */
export async function yieldToEventLoop(done: number): Promise<void> {
  if (done % LINES_AT_ONCE > 0 || done === 0) return;
  await new Promise((resolve) => setTimeout(resolve));
}
