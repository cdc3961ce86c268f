/** Feeds of the issuers that the server knows. @module */

import type { Config } from "../server/config.ts";
import { check, type CheckResult } from "../libraries/mod.ts";
import { type CheckedFeed, checkFeed } from "./check_feed.ts";
import { fetchDocuments } from "./documents.ts";

/** A server may pass on a feed that is some seconds old. */
const READ_AGAIN_MS = 400;
const MAX_READS = 20;

/**
 * Reads and verifies the feed of an issuer that the server knows; again, for
 * some seconds, while it ends before `minSequence`. Undefined for an issuer
 * that it does not know.
 */
export type ReadFeed = (
  did: string,
  minSequence?: number,
) => Promise<KnownFeed | undefined>;

/** Such a feed, which can be asked. */
export interface KnownFeed extends CheckedFeed {
  /** Whether somebody is what they must be; undefined of a feed that is not valid. */
  ask(subject: string, require: readonly string[]): CheckResult | undefined;
}

/** Makes it. */
export function createReadFeed({ issuers }: Config): ReadFeed {
  return async (did, minSequence = 0) => {
    const known = issuers.find((issuer) => issuer.did === did);
    if (known === undefined) return undefined;
    for (let tries = 1;; tries++) {
      const documents = await fetchDocuments(known.base);
      const feed = await checkFeed(documents, { expectedIssuer: did });
      const last = feed.state?.last_sequence ?? Infinity;
      if (last >= minSequence || tries === MAX_READS) return askable(feed);
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
  };
}

function askable(feed: CheckedFeed): KnownFeed {
  const { state } = feed;
  return {
    ...feed,
    ask: (subject, require) =>
      state && check(state, { subject, require, now: new Date() }),
  };
}
