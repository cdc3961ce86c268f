/** What an index proves about a feed that it does not fit. @module */

import {
  isSigError,
  parseEventPayload,
  sameBytes,
  SigError,
  type SigEvent,
} from "@sig/core";
import { verifyEnvelope } from "@sig/jose";
import type { FeedMark } from "../index/feed_index.ts";
import { readLines } from "../store/feed_lines.ts";
import type { OpenFeed } from "../store/feed_store.ts";
import type { LineRules } from "./verify_line.ts";

/**
 * The event of the line that a mark keeps, if a key of this issuer signed it.
 * Nobody can make that up: so it was in the feed once, at its sequence.
 */
export async function provenEvent(
  line: Uint8Array,
  rules: LineRules,
): Promise<SigEvent | undefined> {
  try {
    const parsed = rules.parseLine(line);
    await verifyEnvelope(parsed, rules.keys);
    const { publicOnly } = rules;
    const event = parseEventPayload(parsed.payload, { publicOnly }) as SigEvent;
    return event.issuer === rules.issuer ? event : undefined;
  } catch (error) {
    if (!isSigError(error)) throw error;
    return undefined;
  }
}

/**
 * Refuses a feed that has lost an event which was in it: a copy from before, or
 * another history. What is appended to such a feed would make readers that have
 * seen the lost events refuse it for ever. Nothing is changed.
 *
 * @throws {SigError} `feed_rolled_back`, `feed_rewritten`
 */
export async function requireEvidence(
  feed: OpenFeed,
  { last_line }: FeedMark,
  rules: LineRules,
): Promise<void> {
  const known = await provenEvent(last_line, rules);
  if (known === undefined) return;
  let sequence = 0;
  for await (const { bytes, terminated } of readLines(feed, 0)) {
    if (sequence + 1 === known.sequence) {
      if (sameBytes(bytes, last_line)) return;
      // Damage is for whoever verifies that line to name.
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
