/** Reading an issuer again, for no more than is needed (docs/protocol.md §6). @module */

import {
  acceptFailure,
  acceptRefresh,
  contradictionWarning,
  type IssuerRecord,
  type Observation,
  type Refreshed,
  withoutPast,
} from "../memory/issuer_record.ts";
import { makePin, nameKids, type SeenFeed } from "../memory/pin.ts";
import {
  ConditionalReader,
  type HeldDocuments,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { type LoadedIssuer, loadIssuer } from "../verify/load_issuer.ts";
import { askAhead, heldDocuments } from "./ask_ahead.ts";
import { contradictionOfKeys, mayRefetch } from "./issuer_keys.ts";
import {
  FeedFailure,
  type ReadFeed,
  readFeed,
  type RefreshOptions,
} from "./read_feed.ts";

/** What came of a refresh, and what is known from then on. */
export interface Refresh {
  /** Replaces the record that the refresh began with. */
  readonly record: IssuerRecord;
  /** What was found, or why there is nothing to answer from. */
  readonly outcome:
    | { readonly observation: Observation }
    | {
      readonly observation?: undefined;
      readonly error: unknown;
      /** Of a contradiction: what was served. */
      readonly seen: SeenFeed | undefined;
    };
  /** Whether all of the feed was verified, and not only what is new. */
  readonly isFromStart: boolean;
}

/**
 * Fetches what changed since the last refresh, verifies it, and compares it with
 * the pin. The record grows only when everything was in order.
 *
 * - Documents are verified again each time, those that a 304 leaves as they are
 *   together with those that changed.
 * - Keys come before the feed: one that signed remembered events and is another
 *   now, or gone, is a contradiction whatever the feed says.
 * - The feed is requested by its entity tag and from shortly before the known
 *   end. Known bytes are compared, by that overlap or, of a whole feed, by their
 *   digest; only new ones are verified. Whatever does not fit leads to the whole
 *   feed being fetched, verified from its start, and compared with the pin.
 */
export async function refreshIssuer(
  location: IssuerLocation,
  before: IssuerRecord,
  given: RefreshOptions,
): Promise<Refresh> {
  const options = { ...given, knownKeys: before.held?.keys?.keys };
  const { now } = options;
  const ahead = askAhead(location, before, options);
  const reader = new ConditionalReader(ahead, heldDocuments(before));
  let { documents } = reader;
  let record = before;
  const refetchKeys = async () => {
    record = { ...record, keysRefetchedAt: now };
    const again = new ConditionalReader(location.reader, NO_DOCUMENTS);
    const loaded = await loadIssuer({ ...location, reader: again }, options);
    const contradiction = record.pin &&
      await contradictionOfKeys(loaded.keys, record.pin);
    if (contradiction !== undefined) throw contradiction;
    ({ documents } = again);
    return loaded.keys;
  };
  const failure = ({ error, sawDifference, seen }: FeedFailure): Refresh => ({
    record: acceptFailure(record, error, sawDifference),
    outcome: { error, seen },
    isFromStart: false,
  });
  try {
    const loaded = await loadIssuer({ ...location, reader }, options);
    record = await withNamedKeys(record, loaded);
    const mayFetch = mayRefetch(record.keysRefetchedAt, now);
    const found = await readFeed({
      record,
      loaded,
      refetchKeys: mayFetch ? refetchKeys : undefined,
      options,
    });
    if (found instanceof FeedFailure) return failure(found);
    const refreshed = await complete(record, loaded, found, {
      ...options,
      documents,
    });
    const { isFromStart } = found;
    return {
      record: acceptRefresh(record, refreshed),
      outcome: { observation: refreshed.observation },
      isFromStart,
    };
  } catch (error) {
    return failure(new FeedFailure(error));
  } finally {
    await ahead.end();
  }
}

/** The pin may come from a store, which shortens kids. */
async function withNamedKeys(
  record: IssuerRecord,
  { keys: { keys: published } }: LoadedIssuer,
): Promise<IssuerRecord> {
  const { pin } = record;
  if (pin === undefined) return record;
  const keys = await nameKids(pin.keys, published.keys());
  return { ...record, pin: { ...pin, keys } };
}

/** What the record is to take. */
async function complete(
  record: IssuerRecord,
  loaded: LoadedIssuer,
  feed: ReadFeed,
  options: RefreshOptions & { readonly documents: HeldDocuments },
): Promise<Refreshed> {
  const { now, documents } = options;
  const { verification, marks, sha256, etag, keys, ...held } = feed;
  const result = verification.result();
  const { warnings: all, state: { history } } = result;
  const warnings = withoutPast(all, (at) => history.issuedAt(at), options);
  const pin = await makePin(
    { verification, keys, sha256, etag, at: now },
    record.pin,
  );
  return {
    pin,
    keys,
    documents,
    marks,
    feed: {
      ...held,
      verification,
      ref: loaded.metadata.events_uri,
      publicOnly: loaded.metadata.public_only,
    },
    observation: {
      observedAt: now,
      observedAtText: pin.last_seen,
      continuity: record.pin === undefined ? "first_seen" : "consistent",
      verified: {
        issuer: loaded.issuer,
        source: loaded.source,
        state: result.state,
        feed: { ...result, sha256, warnings },
        warnings: [
          ...loaded.warnings,
          ...feed.warnings,
          ...contradictionWarning(record.lastContradiction),
          ...warnings,
        ],
      },
    },
  };
}
