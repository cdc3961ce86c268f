/** Asking an issuer that a store remembers (PROTOCOL §6). @module */

import { isSigError } from "@sig/core";
import type { ProvenLocation } from "../read/source.ts";
import { FeedDigest } from "../verify/feed_digest.ts";
import type { VerifiedEvent } from "../verify/verified_feed.ts";
import {
  type PinStore,
  pinStoreUnavailable,
  RowsTooLarge,
  StateMoved,
} from "../pins/pin_store.ts";
import { Sha256 } from "../pins/sha256.ts";
import { StagedFeed } from "../pins/staged_feed.ts";
import { recordOf } from "./issuer_record.ts";
import { type Refresh, refreshIssuer } from "./refresh_issuer.ts";
import {
  findRemembered,
  type RememberOptions,
  type Resumed,
  resumeIssuer,
} from "./remembered_issuer.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import { writeRefresh } from "./write_remembered.ts";

/** How often another process may be faster before we give up. */
const MAX_ATTEMPTS = 8;

/** Asks an issuer, given what the store has of it, and writes what came of it. */
export async function refreshRemembered(
  store: PinStore,
  location: ProvenLocation,
  options: RememberOptions & Pick<RefreshOptions, "now" | "report">,
): Promise<Refresh> {
  let { full } = options;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const found = await findRemembered(store, location.expectedIssuer);
    if (found === undefined && options.requirePin) {
      throw pinMissing(store, location.expectedIssuer);
    }
    const staged = new StagedFeed(store, location.expectedIssuer, options);
    let written: Refresh | undefined;
    try {
      const before = found && await resumeIssuer(found, { ...options, full });
      const refresh = await readStaged(location, options, staged, before);
      written = await writeRefresh(
        store,
        found,
        before,
        refresh,
        staged,
        { ...options, place: location.metadataRef },
      );
    } catch (error) {
      // As a whole they can be staged; those of another process are read anew.
      if (error instanceof RowsTooLarge) full = true;
      else if (!(error instanceof StateMoved)) throw error;
    } finally {
      await dropStaged(staged);
    }
    if (written !== undefined) return written;
    // Another process was faster: what it has seen counts as well.
  }
  throw pinStoreUnavailable(store.place, "other processes keep changing it");
}

/**
 * A refresh of which nothing is held that a store can take: from the start of
 * the feed, unless there is something to go on from.
 *
 * @throws {StateMoved} where another process was faster.
 */
export async function readStaged(
  location: ProvenLocation,
  options: RememberOptions & Pick<RefreshOptions, "now"> & {
    readonly report?: boolean;
  },
  staged: StagedFeed,
  before?: Resumed,
): Promise<Refresh> {
  const refresh = await refreshIssuer(location, before?.record ?? recordOf(), {
    ...options,
    ...(before?.limits === undefined
      ? {}
      : { limits: before.limits, anewLimits: options.limits }),
    report: options.report ?? false,
    createDigest: () => new FeedDigest(0, new Sha256()),
    staged,
    onEvent: (verified: VerifiedEvent) => {
      if (!staged.isReading) before?.growth.note(verified.event);
      options.onEvent?.(verified);
    },
  });
  const { outcome } = refresh;
  const hasMoved = outcome.observation === undefined &&
    outcome.error instanceof StateMoved;
  if (hasMoved) throw outcome.error;
  return refresh;
}

/** Takes back what was staged, unless an entry names it by now. */
export async function dropStaged(staged: StagedFeed): Promise<void> {
  try {
    await staged.drop();
  } catch (error) {
    // It is of no use to anybody, and goes with the issuer's next entry.
    if (!isSigError(error, "store_unavailable")) throw error;
  }
}

function pinMissing(store: PinStore, issuer: string): Error {
  return pinStoreUnavailable(store.place, `it has no pin of ${issuer}`, {
    hint:
      "It may have been emptied. Without --require-pin the next look is a first one.",
  });
}
