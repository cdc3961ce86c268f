/** A feed's bytes, verified and replayed while they stream (docs/protocol.md §2–§4). @module */

import { FeedDigest } from "./feed_digest.ts";
import { FeedVerification } from "./feed_verification.ts";
import type { VerifiedFeed, VerifyFeedOptions } from "./verified_feed.ts";

/**
 * Verifies every line of a feed and replays it, holding one chunk at a time.
 *
 * @example An empty feed is valid
 * ```ts
 * import { verifyFeed } from "@sig/consumer";
 * import { createKeyResolver } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const verified = await verifyFeed([], {
 *   issuer: "did:web:acme.example",
 *   keys: await createKeyResolver({ keys: [] }),
 *   publicOnly: true,
 *   now: new Date("2026-01-01T00:00:00Z"),
 * });
 * assertEquals(verified.verifiedEvents, 0);
 * ```
 *
 * @throws {SigError} the first fault with its line, sequence and kid: the
 * codes of `parseFeedLine`, `verifyEnvelope`, `parseEventPayload` and `replay`,
 * and `incomplete_line`. With `maxFaults` only `feed_too_large`,
 * `too_many_events` and what reading the bytes can run into.
 */
export async function verifyFeed(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: VerifyFeedOptions,
): Promise<VerifiedFeed> {
  const verification = new FeedVerification(options);
  if (!options.digest) {
    await verification.read(bytes, options);
    return verification.result();
  }
  const digest = new FeedDigest();
  await verification.read(digest.follow(bytes), options);
  return { ...verification.result(), sha256: await digest.hex() };
}
