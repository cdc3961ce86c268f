/** Asking an issuer again, for no more than is needed (PROTOCOL §6). @module */

import {
  addSeconds,
  compareInstants,
  DEFAULT_LIMITS,
  instantOf,
  type Warning,
} from "@sig/core";
import { ConditionalReader } from "../read/conditional_reader.ts";
import { isFault } from "../verify/fault.ts";
import { reduce, remember } from "./issuer_memory.ts";
import type { IssuerRecord, Observation, Refreshed } from "./issuer_record.ts";
import { type LoadedIssuer, loadIssuer } from "../verify/load_issuer.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { FeedRefresh, type RefreshedFeed } from "./refresh_feed.ts";
import { RefreshKeys } from "./refresh_keys.ts";
import type { RefreshOptions } from "./refresh_options.ts";
import type { VerifiedFeed } from "../verify/verified_feed.ts";
import { type InvalidReport, invalidReport } from "../verify/verify_report.ts";

/** What came of a refresh. */
export type RefreshOutcome =
  | { readonly observation: Observation }
  | {
    readonly observation?: undefined;
    /** Why there is none. */
    readonly error: unknown;
    /** When something that was published is wrong. */
    readonly report: InvalidReport | undefined;
  };

/**
 * Gets what changed since the last refresh, verifies it, and compares it with
 * what is remembered. The record grows only when everything was in order.
 *
 * - Documents are judged anew each time, those that a 304 leaves as they are
 *   together with those that changed.
 * - Keys come before the feed: one that signed remembered events and is another
 *   now, or gone, is a contradiction whatever the feed says.
 * - The feed is asked for by its entity tag and from shortly before the known
 *   end. Known bytes are compared, by that overlap or, of a whole feed, by
 *   their digest; only new ones are verified. Whatever does not fit leads to
 *   the whole feed being fetched, verified from its start, and judged.
 */
export async function refreshIssuer(
  location: IssuerLocation,
  record: IssuerRecord,
  options: RefreshOptions,
): Promise<RefreshOutcome> {
  const reader = new ConditionalReader(location.reader, record.documents);
  let loaded: LoadedIssuer | undefined;
  let feedRefresh: FeedRefresh | undefined;
  try {
    loaded = await loadIssuer({ ...location, reader }, options);
    await record.nameKeys(loaded.keys.keys.keys());
    const keys = new RefreshKeys(
      record,
      loaded.keys,
      async () => (await loadIssuer(location, options)).keys,
      options.now,
    );
    feedRefresh = new FeedRefresh(record, loaded, keys, options);
    const feed = await feedRefresh.run();
    const refreshed = await complete(
      location,
      record,
      loaded,
      feedRefresh,
      feed,
      options,
    );
    const documents = keys.areNewer ? new Map() : reader.documents;
    record.accept({ ...refreshed, documents });
    return { observation: refreshed.observation };
  } catch (error) {
    record.fail(error, feedRefresh?.sawDifference ?? false);
    if (!isFault(error)) return { error, report: undefined };
    const { faults = [], verifiedEvents } = feedRefresh?.progress ?? {};
    const report = invalidReport({
      faults: faults.length > 0 ? faults : [error],
      issuer: loaded?.issuer,
      source: location.reader.kind,
      verifiedEvents,
      warnings: [...loaded?.warnings ?? [], ...feedRefresh?.warnings ?? []],
    });
    return { error, report };
  } finally {
    options.allowance?.end();
  }
}

/** What the record is to take. */
async function complete(
  location: IssuerLocation,
  record: IssuerRecord,
  loaded: LoadedIssuer,
  { keys, warnings }: FeedRefresh,
  feed: RefreshedFeed,
  options: RefreshOptions,
): Promise<Omit<Refreshed, "documents">> {
  const { now } = options;
  const { verification, sha256, etag } = feed;
  const result = verification.result();
  const feedWarnings = stillOdd(result, options);
  const memory = await remember(
    { verification, keys: keys.current, sha256, etag, at: now },
    record.memory,
  );
  return {
    memory,
    reduced: await reduce(memory),
    history: {
      verification,
      digest: feed.digest,
      marks: feed.marks,
      overlap: feed.overlap,
      comparedAt: feed.comparedAt,
      ref: loaded.metadata.events_uri,
      publicOnly: loaded.metadata.public_only,
      warnings,
    },
    observation: {
      observedAt: now,
      observedAtText: memory.last_seen,
      continuity: record.memory === undefined ? "first_seen" : "consistent",
      verified: {
        issuer: loaded.issuer,
        source: location.reader.kind,
        state: result.state,
        feed: { ...result, sha256, warnings: feedWarnings },
        warnings: [
          ...loaded.warnings,
          ...warnings,
          ...feedWarnings,
          ...inconsistency(record),
        ],
      },
    },
  };
}

/** An event that was ahead of the clock when it was read may be so no more. */
function stillOdd(
  { state, warnings }: VerifiedFeed,
  { now, limits = DEFAULT_LIMITS }: RefreshOptions,
): readonly Warning[] {
  const horizon = addSeconds(instantOf(now), limits.clockSkewSeconds);
  return warnings.filter(({ code, sequence }) =>
    code !== "issued_at_future" || sequence === undefined ||
    compareInstants(state.history.issuedAt(sequence), horizon) > 0
  );
}

function inconsistency({ inconsistency }: IssuerRecord): readonly Warning[] {
  if (inconsistency === undefined) return [];
  return [{
    code: "history_was_inconsistent",
    detail: "since this process began, the issuer served something that " +
      `contradicts its history (${inconsistency})`,
  }];
}
