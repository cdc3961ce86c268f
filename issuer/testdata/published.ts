/** Published states of unsigned events, for tests of plans. @module */

import type { SigEvent } from "@sig/core";
import type { PublishedState } from "@sig/issuer";
import { PublishedRelationships } from "../plan/published.ts";
import { ISSUER } from "../../tests/kit/events.ts";

/** Numbers events as a feed does. */
export const numbered = (events: readonly SigEvent[]): readonly SigEvent[] =>
  events.map((event, at) => ({
    ...event,
    event_id: `e${at}`,
    sequence: at + 1,
  }));

/** Returns the state after these events. */
export function published(events: readonly SigEvent[]): PublishedState {
  const relationships = new PublishedRelationships();
  for (const event of numbered(events)) relationships.add(event);
  return relationships.state({
    issuer: ISSUER,
    last_sequence: events.length,
    feed_sha256: `${events.length}`,
  });
}
