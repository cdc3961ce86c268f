/** Which event a feed has at a sequence. @module */

import type { FeedState } from "@sig/core";
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
): Promise<string> {
  const { seconds, nanoseconds } = history.issuedAt(sequence);
  const text = JSON.stringify([
    ...[issuer, sequence, seconds, nanoseconds],
    // A revoke that met nothing has left no version.
    findVersion(history, sequence) ?? null,
  ]);
  const bytes = new TextEncoder().encode(text);
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return encodeBase64Url(new Uint8Array(digest, 0, 16));
}

function findVersion({ versions }: FeedState["history"], sequence: number) {
  for (const each of versions.values()) {
    const found = each.findLast(({ state }) => state.last_sequence <= sequence);
    if (found?.state.last_sequence === sequence) return found.state;
  }
  return undefined;
}
