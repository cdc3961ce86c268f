/** A line of the issuer's own feed, verified as a reader does. @module */

import {
  createFeedLineParser,
  type FeedLineParser,
  FeedRules,
  isSigError,
  type Limits,
  parseEventPayload,
  SigError,
  type SigEvent,
  withContext,
} from "@sig/core";
import { type KeyResolver, verifyEnvelope } from "@sig/jose";
import type { IndexWriter } from "../index/index_writer.ts";

/** What a feed's lines are verified against. */
export interface LineRules {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The feed's `public_only`. */
  readonly publicOnly: boolean;
  /** The keys that may sign. */
  readonly keys: KeyResolver;
  /** Size limits. */
  readonly limits: Limits;
  /** Reads lines of this feed. */
  readonly parseLine: FeedLineParser;
}

/** The rules of a feed. */
export function createLineRules(
  rules: Omit<LineRules, "parseLine">,
): LineRules {
  const { limits } = rules;
  return { ...rules, parseLine: createFeedLineParser({ limits }) };
}

/**
 * Verifies the line that follows the writer's mark. Nothing is added.
 *
 * @throws {SigError} the first fault of PROTOCOL §2 and §4, with its place.
 */
export async function verifyLine(
  line: Uint8Array,
  writer: IndexWriter,
  rules: LineRules,
): Promise<SigEvent> {
  const { issuer, limits, publicOnly } = rules;
  const { sequence: last } = writer.mark;
  try {
    const parsed = rules.parseLine(line);
    const verdict = verifyEnvelope(parsed, rules.keys);
    if (verdict instanceof Promise) await verdict;
    // Unknown event types are refused by default.
    const event = parseEventPayload(parsed.payload, { publicOnly }) as SigEvent;
    const reader = new FeedRules({ issuer, limits });
    reader.resume(last);
    reader.accept(event);
    // The reader above has seen no other event; the index has.
    if (writer.event(event.event_id) !== undefined) {
      throw new SigError(
        "duplicate_event_id",
        "Cannot apply event: its event_id was used before",
        { context: { pointer: "/event_id" } },
      );
    }
    return event;
  } catch (error) {
    if (!isSigError(error)) throw error;
    throw withContext(error, { line: last + 1, sequence: last + 1 });
  }
}
