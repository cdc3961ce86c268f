/** Asking an issuer again, for no more than is needed (PROTOCOL §6). @module */

import {
  addSeconds,
  compareInstants,
  DEFAULT_LIMITS,
  type FeedHistory,
  instantOf,
  type Warning,
} from "@sig/core";
import { askAhead, heldDocuments } from "./ask_ahead.ts";
import { ConditionalReader, NO_DOCUMENTS } from "../read/conditional_reader.ts";
import { isFault } from "../verify/feed_fault.ts";
import { makePin, reducePin } from "../pins/issuer_pin.ts";
import {
  accept,
  fail,
  type IssuerRecord,
  nameKeys,
  noteRefetch,
  type Observation,
  type Refreshed,
} from "./issuer_record.ts";
import { type LoadedIssuer, loadIssuer } from "../verify/load_issuer.ts";
import { type IssuerLocation, sourceOf } from "../read/reader.ts";
import {
  type FailedFeed,
  type RefreshedFeed,
  refreshFeed,
} from "./refresh_feed.ts";
import { contradictionOf, mayRefetch } from "./refresh_keys.ts";
import type { RefreshOptions } from "./refresh_options.ts";
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

/** What came of a refresh, and what is known from then on. */
export interface Refresh {
  /** To take the place of the record that the refresh began with. */
  readonly record: IssuerRecord;
  /** For those who wait. */
  readonly outcome: RefreshOutcome;
}

/**
 * Gets what changed since the last refresh, verifies it, and compares it with
 * what is pinned. The record grows only when everything was in order.
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
  before: IssuerRecord,
  told: RefreshOptions,
): Promise<Refresh> {
  const options = { ...told, knownKeys: before.held?.keys?.keys };
  const { now } = options;
  const ahead = askAhead(location, before, options);
  const reader = new ConditionalReader(ahead, heldDocuments(before));
  let record = before;
  let loaded: LoadedIssuer | undefined;
  const refetchKeys = async () => {
    record = noteRefetch(record, now);
    const { keys } = await loadIssuer(location, options);
    const contradiction = record.pin && await contradictionOf(keys, record.pin);
    if (contradiction !== undefined) throw contradiction;
    return keys;
  };
  const failure = (
    failed: Pick<FailedFeed, "error"> & Partial<FailedFeed>,
  ): Refresh => ({
    record: fail(record, failed.error, failed.sawDifference ?? false),
    outcome: {
      error: failed.error,
      report: reportOf(failed, location, loaded),
    },
  });
  try {
    loaded = await loadIssuer({ ...location, reader }, options);
    record = await nameKeys(record, loaded.keys.keys.keys());
    const mayFetch = mayRefetch(record.keysRefetchedAt, now);
    const found = await refreshFeed({
      record,
      loaded,
      refetchKeys: mayFetch ? refetchKeys : undefined,
      options,
    });
    if (found.kind === "failed") return failure(found);
    const { feed } = found;
    // Keys that were fetched again are newer than the documents at hand.
    const documents = feed.keys === loaded.keys
      ? reader.documents
      : NO_DOCUMENTS;
    const refreshed = await complete(record, loaded, feed, options);
    return {
      record: accept(record, { ...refreshed, documents }),
      outcome: { observation: refreshed.observation },
    };
  } catch (error) {
    return failure({ error });
  } finally {
    await ahead.end();
  }
}

/** A report, when something that was published is wrong. */
function reportOf(
  { error, faults = [], verifiedEvents, warnings = [] }:
    & Pick<FailedFeed, "error">
    & Partial<FailedFeed>,
  location: IssuerLocation,
  loaded: LoadedIssuer | undefined,
): InvalidReport | undefined {
  if (!isFault(error)) return undefined;
  return invalidReport({
    faults: faults.length > 0 ? faults : [error],
    issuer: loaded?.issuer,
    source: loaded?.source ?? sourceOf(location),
    verifiedEvents,
    warnings: [...loaded?.warnings ?? [], ...warnings],
  });
}

/** What the record is to take. */
async function complete(
  record: IssuerRecord,
  loaded: LoadedIssuer,
  feed: RefreshedFeed,
  options: RefreshOptions,
): Promise<Omit<Refreshed, "documents">> {
  const { now } = options;
  const { verification, marks, sha256, etag, keys, warnings } = feed;
  const result = verification.result();
  const { warnings: all, state: { history } } = result;
  const feedWarnings = stillOdd(all, history, options);
  const pin = await makePin(
    { verification, keys, sha256, etag, at: now },
    record.pin,
  );
  return {
    pin,
    reduced: await reducePin(pin),
    keys,
    feed: {
      verification,
      digest: feed.digest,
      marks,
      overlap: feed.overlap,
      comparedAt: feed.comparedAt,
      ref: loaded.metadata.events_uri,
      publicOnly: loaded.metadata.public_only,
      warnings,
    },
    allMarks: () => Promise.resolve(marks),
    observation: {
      observedAt: now,
      observedAtText: pin.last_seen,
      continuity: record.pin === undefined ? "first_seen" : "consistent",
      verified: {
        issuer: loaded.issuer,
        source: loaded.source,
        state: result.state,
        feed: { ...result, sha256, warnings: feedWarnings },
        warnings: [
          ...loaded.warnings,
          ...warnings,
          ...inconsistencyWarning(record.inconsistency),
          ...feedWarnings,
        ],
      },
    },
  };
}

/** An event that was ahead of the clock when it was read may be so no more. */
export function stillOdd(
  warnings: readonly Warning[],
  history: Pick<FeedHistory, "issuedAt">,
  { now, limits = DEFAULT_LIMITS }: Pick<RefreshOptions, "now" | "limits">,
): readonly Warning[] {
  const horizon = addSeconds(instantOf(now), limits.clockSkewSeconds);
  return warnings.filter(({ code, sequence }) =>
    code !== "issued_at_future" || sequence === undefined ||
    compareInstants(history.issuedAt(sequence), horizon) > 0
  );
}

/**
 * The warning that the history was inconsistent, once it was. It goes before
 * those of events: an answer holds few, and an issuer can cause any number.
 */
export function inconsistencyWarning(
  code: string | undefined,
): readonly Warning[] {
  if (code === undefined) return [];
  return [{
    code: "history_was_inconsistent",
    detail: "since it is remembered, the issuer served something that " +
      `contradicts its history (${code})`,
  }];
}
