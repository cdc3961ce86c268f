/** Which event a feed has at a sequence. @module */

import {
  type FeedState,
  type RelationshipState,
  runInSlices,
  STEP_UNITS,
  type Steps,
} from "@sig/core";
import { encodeBase64Url } from "@sig/jose";

/**
 * A digest of what a state knows of one of its events: when it was issued, and
 * what it made of its relationship. Another history hardly has the same there.
 *
 * @param sequence From 1 to the state's `last_sequence`.
 */
export async function digestEvent(
  { issuer, history }: FeedState,
  sequence: number,
  breathe: () => Promise<void>,
): Promise<string> {
  const { seconds, nanoseconds } = history.issuedAt(sequence);
  const text = JSON.stringify([
    ...[issuer, sequence, seconds, nanoseconds],
    // A revoke that met nothing has left no version.
    await runInSlices(findVersion(history, sequence), breathe) ?? null,
  ]);
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest, 0, 16));
}

/** Goes through all relationships: an index of events would cost more. */
function* findVersion(
  { versions }: FeedState["history"],
  sequence: number,
): Steps<RelationshipState | undefined> {
  let units = 0;
  for (const each of versions.values()) {
    const last = each.at(-1)!.state;
    if (last.last_sequence === sequence) return last;
    // In the order of the feed.
    if (last.last_sequence > sequence) {
      units += each.length >> 3;
      const found = each.find(({ state }) => state.last_sequence >= sequence);
      if (found?.state.last_sequence === sequence) return found.state;
    }
    if (++units < 4 * STEP_UNITS) continue;
    units = 0;
    yield;
  }
  return undefined;
}
