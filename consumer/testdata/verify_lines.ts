/** Verifies a feed of the test issuer, with its keys and a fixed clock. */

import { createKeyResolver } from "@sig/jose";
import { DID, importTestKeys, NOW } from "../../tests/kit/test_issuer.ts";
import { verifyFeed } from "../verify/verify_feed.ts";
import type {
  VerifiedFeed,
  VerifyFeedOptions,
} from "../verify/verified_feed.ts";

export const [key1, key2, stranger] = await importTestKeys();

/** The keys that the issuer publishes: one, or both. */
export const keys = await createKeyResolver({ keys: [key1.publicJwk] });
export const bothKeys = await createKeyResolver({
  keys: [key1.publicJwk, key2.publicJwk],
});

/** Verifies as a public reader that knows one key (default). */
export function verify(
  feed: Uint8Array | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: Partial<VerifyFeedOptions> = {},
): Promise<VerifiedFeed> {
  return verifyFeed(feed instanceof Uint8Array ? [feed] : feed, {
    issuer: DID,
    keys,
    publicOnly: true,
    now: NOW,
    ...options,
  });
}
