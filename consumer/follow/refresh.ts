/** Reading an issuer again, for no more than is needed (docs/protocol.md §6). @module */

import { DEFAULT_LIMITS, WELL_KNOWN_PATHS } from "@sig/core";
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
  AskedAhead,
  ConditionalReader,
  conditionsFor,
  type HeldDocuments,
  type LikelyDocument,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation, OpenOptions } from "../read/reader.ts";
import { type LoadedIssuer, loadIssuer } from "../verify/load_issuer.ts";
import { contradictionOfKeys, mayRefetch } from "./issuer_keys.ts";
import {
  conditionsToContinue,
  FeedFailure,
  type ReadFeed,
  readFeed,
  type RefreshOptions,
} from "./read_feed.ts";
import type { DocumentName } from "../fetch/media_type.ts";

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
    const { cause, sawDifference, seen } = FeedFailure.of(error);
    return {
      record: acceptFailure(record, cause, sawDifference),
      outcome: { error: cause, seen },
      isFromStart: false,
    };
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

/** The documents that a refresh may ask for conditionally. */
export function heldDocuments(before: IssuerRecord): HeldDocuments {
  if (before.unusable) return NO_DOCUMENTS;
  return before.held?.documents ?? NO_DOCUMENTS;
}

/**
 * Sends the requests of a refresh together, where the metadata of the last one
 * says what they will be. They go to the issuer's own origin alone, which is
 * proven again before anything of them is looked at. (docs/protocol.md §1)
 */
export function askAhead(
  { reader, metadataRef }: IssuerLocation,
  before: IssuerRecord,
  options: Pick<RefreshOptions, "limits" | "now">,
): AskedAhead {
  const held = heldDocuments(before);
  const metadata = held.get("metadata");
  if (reader.kind !== "remote" || metadata?.ref !== metadataRef) {
    return new AskedAhead(reader, []);
  }
  const limits = options.limits ?? DEFAULT_LIMITS;
  const likely: LikelyDocument[] = [];
  const add = (ref: string | undefined, asked: OpenOptions) => {
    if (ref === undefined || !isSameOrigin(ref, metadataRef)) return;
    likely.push({ ref, options: asked });
  };
  const addHeld = (
    name: Exclude<DocumentName, "feed">,
    maxBytes: number,
    ref = held.get(name)?.ref,
  ) => {
    const kept = held.get(name);
    const conditions = conditionsFor(kept?.ref === ref ? kept : undefined);
    add(ref, { name, maxBytes, conditions });
  };
  addHeld("metadata", limits.maxMetadataBytes);
  addHeld("jwks", limits.maxJwksBytes);
  const didRef = new URL(WELL_KNOWN_PATHS.did_document, metadataRef).href;
  addHeld("did_document", limits.maxDidDocumentBytes, didRef);
  const feedRef = before.held?.feed?.ref;
  const conditions = feedRef === undefined
    ? undefined
    : conditionsToContinue(before, feedRef, options.now);
  if (conditions !== undefined) {
    add(feedRef, { name: "feed", maxBytes: limits.maxFeedBytes, conditions });
  }
  return new AskedAhead(reader, likely, metadata.bytes);
}

function isSameOrigin(ref: string, other: string): boolean {
  return new URL(ref).origin === new URL(other).origin;
}
