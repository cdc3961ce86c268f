/** Refreshes an issuer, and fetches only what changed (docs/protocol.md §6). @module */

import {
  DEFAULT_LIMITS,
  formatInstant,
  instantOf,
  isSigError,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { MAX_CHECKPOINT_BYTES } from "@sig/jose/proofs";
import type { DocumentName } from "../fetch/media_type.ts";
import {
  acceptFailure,
  contradictionOf,
  contradictionWarning,
  type IssuerRecord,
  isUnusable,
  NOTHING_KNOWN,
  type Refresh,
  RefreshFailure,
  withoutPast,
} from "../memory/issuer_record.ts";
import { policyOf } from "../memory/memory.ts";
import {
  addedKeys,
  continuePin,
  type IssuerPin,
  namePin,
  shortOrNull,
} from "../memory/pin.ts";
import {
  conditionsFor,
  type HeldDocuments,
  IssuerDocuments,
  type LikelyDocument,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation } from "../read/reader.ts";
import { ProofsOfFeed } from "./full_read.ts";
import { lacksKey } from "../verify/feed_fault.ts";
import { fetchedKeys } from "./check_continuity.ts";
import {
  conditionsToContinue,
  type FeedRefresh,
  isWithin,
  type ReadFeed,
  readFeed,
  type RefreshOptions,
} from "./read_feed.ts";

/**
 * Fetches the changes since the last refresh, verifies them, and compares the
 * feed with the pin. Only a refresh without a fault adds to the record.
 *
 * - All documents are verified at each refresh, including those that are
 *   unchanged (304).
 * - Keys are checked before the feed: if a key that signed remembered events
 *   was replaced or withdrawn, that is a contradiction regardless of the feed.
 * - The feed is requested by its entity tag and from shortly before the known
 *   end. Known bytes are compared, by that overlap or, for a whole feed, by
 *   their digest; only new bytes are verified. If they differ, the whole feed
 *   is fetched, verified from its start, and compared with the pin.
 */
export async function refreshIssuer(
  location: IssuerLocation,
  before: IssuerRecord,
  given: RefreshOptions,
): Promise<Refresh> {
  const options = { ...given, knownKeys: before.held?.keys?.keys };
  const { now } = options;
  const reader = requestAhead(location, before, options);
  const proofs = new ProofsOfFeed({ ...location, reader });
  const { documents } = reader;
  try {
    const loaded = await proofs.load(options);
    const keys = await fetchedKeys(loaded.keys);
    const stored = before.known?.pin;
    const pin = stored && await namePin(stored, keys.published);
    const asked = { record: before, pin, loaded, keys, proofs, options };
    const feed = await readFeed(asked);
    const { metadataRef } = location;
    const record = await complete(metadataRef, asked, feed, documents);
    return { record, isFromStart: feed.isFromStart };
  } catch (error) {
    const failure = RefreshFailure.of(error);
    const after = acceptFailure(before, failure, now);
    const isForgotten = given.largeReads && contradictionOf(failure.cause);
    const mayPass = isForgotten || mayBeRotating(failure.cause, before, now);
    if (mayPass && !given.isSecondAttempt) {
      await reader.end();
      const again = isForgotten
        ? NOTHING_KNOWN
        : { ...before, held: after.held, repeatedAt: now };
      return await refreshIssuer(location, again, {
        ...given,
        isSecondAttempt: true,
      });
    }
    return { record: after, failure, isFromStart: false };
  } finally {
    await reader.end();
  }
}

/** Minimum time between two repetitions because of unknown keys. */
const REPEAT_AFTER_MS = 30 * 1000;

/** Returns whether keys may have been added after the documents were read. */
function mayBeRotating(
  error: unknown,
  { repeatedAt }: IssuerRecord,
  now: Date,
): boolean {
  if (isSigError(error, "key_not_introduced")) return true;
  return isSigError(error) && lacksKey(error) &&
    !isWithin(REPEAT_AFTER_MS, repeatedAt, now);
}

async function complete(
  place: string,
  refresh: FeedRefresh,
  feed: ReadFeed,
  documents: HeldDocuments,
): Promise<IssuerRecord> {
  const { record, loaded, pin: before, options } = refresh;
  const { now, largeReads } = options;
  const { verification, sha256, etag: _, proof: __, ...held } = feed;
  const { keys, metadata: { events_uri: ref, public_only } } = loaded;
  const { source, issuer } = loaded;
  const result = verification.result();
  const { state } = result;
  const pin = pinOf(refresh, feed, result.bytes);
  const warnings = withoutPast(
    result.warnings,
    (sequence) => state.history.issuedAt(sequence),
    options,
  );
  const continuity = before === undefined ? "first_seen" : "consistent";
  return {
    ...record,
    known: await continuePin(record.known, pin, {
      place,
      source: source === "http" ? "http" : "https",
      public_only,
      policy: policyOf(options),
      compared_at: feed.comparedAt.toISOString(),
    }),
    held: {
      pin,
      keys,
      documents,
      feed: { ...held, verification, ref, publicOnly: public_only },
      observation: {
        observedAt: now,
        continuity: largeReads === undefined ? continuity : "unpinned",
        verified: {
          issuer,
          source,
          state,
          feed: { ...result, sha256, warnings },
          warnings: [
            ...loaded.warnings,
            ...feed.warnings,
            ...contradictionWarning(record.known),
            ...addedKeys(before, pin).map((kid) => ({
              code: "key_added" as const,
              detail: `key ${quote(kid)} has signed for the first time`,
            })),
            ...warnings,
          ],
        },
      },
    },
  };
}

function pinOf(
  { loaded: { issuer }, keys: { published }, pin, options }: FeedRefresh,
  { verification, sha256, etag, proof }: ReadFeed,
  bytes: number,
): IssuerPin {
  const { events: sequence, kids, lastEventId } = verification;
  const keys = Array.from(kids, (kid) => [kid, published.get(kid)!]);
  const now = formatInstant(instantOf(options.now));
  return {
    issuer,
    sequence,
    bytes,
    prefix_sha256: sha256,
    last_event_id: shortOrNull(lastEventId),
    // Creates an own property even for the kid "__proto__".
    keys: Object.fromEntries(keys),
    etag: shortOrNull(etag),
    first_seen: pin?.first_seen ?? now,
    last_seen: now,
    ...(proof && { proof }),
  };
}

/**
 * Returns the issuer's documents. If the metadata of the last refresh is known,
 * all requests are sent concurrently. They go only to the issuer's own origin,
 * which is verified again before the responses are used. (docs/protocol.md §1)
 */
function requestAhead(
  { reader, metadataRef }: IssuerLocation,
  before: IssuerRecord,
  options: Pick<RefreshOptions, "limits" | "now">,
): IssuerDocuments {
  const { held } = before;
  const isKept = held !== undefined && !isUnusable(before);
  const kept = isKept ? held.documents : NO_DOCUMENTS;
  if (reader.kind !== "remote" || kept.get("metadata")?.ref !== metadataRef) {
    return new IssuerDocuments(reader, kept);
  }
  const limits = options.limits ?? DEFAULT_LIMITS;
  const didRef = new URL(WELL_KNOWN_PATHS.did_document, metadataRef).href;
  const { origin } = new URL(metadataRef);
  const likely: LikelyDocument[] = [];
  const add = (
    name: DocumentName,
    maxBytes: number,
    ref = kept.get(name)?.ref,
    conditions = conditionsFor(kept.get(name)),
  ) => {
    if (ref === undefined || new URL(ref).origin !== origin) return;
    likely.push({ ref, options: { name, maxBytes, conditions } });
  };
  add("metadata", limits.maxMetadataBytes);
  add("jwks", limits.maxJwksBytes);
  add("did_document", limits.maxDidDocumentBytes, didRef);
  add("proof", MAX_CHECKPOINT_BYTES);
  const ref = held?.feed?.ref;
  const conditions = ref && conditionsToContinue(before, ref, options.now);
  if (conditions) add("feed", limits.maxFeedBytes, ref, conditions);
  return new IssuerDocuments(reader, kept, likely);
}
