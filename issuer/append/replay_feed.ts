/** The state that a feed derives. @module */

import {
  type FeedState,
  isSigError,
  parseEventPayload,
  Replay,
  type SigEvent,
  type UnknownEvent,
  withContext,
} from "@sig/core";
import { verifyEnvelope } from "@sig/jose";
import { letOthersRun } from "./let_others_run.ts";
import type { LineRules } from "./verify_line.ts";

const LF = 0x0a;

/** Options of {@linkcode replayFeed}. */
export interface ReplayFeedOptions {
  /** Told of each event that verified and applies, in order. */
  readonly onEvent?: ((event: SigEvent | UnknownEvent) => void) | undefined;
  /** As in `Replay`: null keeps nothing of the state. */
  readonly keepOnly?: string | null | undefined;
}

/**
 * Verifies whole lines and replays them.
 *
 * @throws {SigError} the first fault, with its line.
 */
export async function replayFeed(
  feed: Uint8Array,
  { issuer, keys, limits, parseLine, publicOnly }: LineRules,
  { onEvent, keepOnly }: ReplayFeedOptions = {},
): Promise<FeedState> {
  const replay = new Replay({ issuer, limits, keepOnly });
  for (let at = 0, line = 1; at < feed.length; line++) {
    const end = feed.indexOf(LF, at);
    try {
      const parsed = parseLine(feed.subarray(at, end));
      const verdict = verifyEnvelope(parsed, keys);
      if (verdict instanceof Promise) await verdict;
      const event = parseEventPayload(parsed.payload, { publicOnly });
      replay.apply(event, line);
      onEvent?.(event);
    } catch (error) {
      throw isSigError(error) ? withContext(error, { line }) : error;
    }
    at = end + 1;
    await letOthersRun(line);
  }
  return replay.state();
}
