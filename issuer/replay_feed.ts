/** The state that a feed derives. @module */

import {
  type FeedState,
  isSigError,
  parseEventPayload,
  Replay,
  withContext,
} from "@sig/core";
import { verifyEnvelope } from "@sig/jose";
import type { LineRules } from "./verify_line.ts";

const LF = 0x0a;

/**
 * Verifies whole lines and replays them.
 *
 * @throws {SigError} the first fault, with its line.
 */
export async function replayFeed(
  feed: Uint8Array,
  { issuer, keys, limits, parseLine, publicOnly }: LineRules,
): Promise<FeedState> {
  const replay = new Replay({ issuer, limits });
  for (let at = 0, line = 1; at < feed.length; line++) {
    const end = feed.indexOf(LF, at);
    try {
      const parsed = parseLine(feed.subarray(at, end));
      const verdict = verifyEnvelope(parsed, keys);
      if (verdict instanceof Promise) await verdict;
      replay.apply(parseEventPayload(parsed.payload, { publicOnly }), line);
    } catch (error) {
      throw isSigError(error) ? withContext(error, { line }) : error;
    }
    at = end + 1;
  }
  return replay.state();
}
