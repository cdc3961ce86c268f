/** Reading an issuer again, for no more than is needed (docs/protocol.md §6). @module */

import { DEFAULT_LIMITS, isSigError, WELL_KNOWN_PATHS } from "@sig/core";
import { quote } from "@sig/core/internal";
import { MAX_CHECKPOINT_BYTES } from "@sig/jose/proofs";
import {
  acceptFailure,
  acceptRefresh,
  contradictionOf,
  contradictionWarning,
  type IssuerRecord,
  NOTHING_KNOWN,
  type Observation,
  type Refreshed,
  withoutPast,
} from "../memory/issuer_record.ts";
import { addedKeys, makePin, nameKids, type SeenFeed } from "../memory/pin.ts";
import {
  conditionsFor,
  type HeldDocuments,
  IssuerDocuments,
  type LikelyDocument,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation, OpenOptions } from "../read/reader.ts";
import { ProofsOfFeed } from "./full_read.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import { isWithin } from "./issuer_keys.ts";
import {
  conditionsToContinue,
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
  const reader = askAhead(location, before, options);
  const proofs = new ProofsOfFeed({ ...location, reader });
  const { documents } = reader;
  let record = before;
  try {
    const loaded = await proofs.load(options);
    record = await withNamedKeys(record, loaded);
    const found = await readFeed({ record, loaded, proofs, options });
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
    const after = acceptFailure(record, cause, sawDifference);
    const isForgotten = given.largeReads && contradictionOf(cause);
    const mayPass = isForgotten || mayBeRotating(cause, before, now);
    if (mayPass && !given.isAgain) {
      await reader.end();
      const again = isForgotten
        ? NOTHING_KNOWN
        : { ...before, held: after.held, repeatedAt: now };
      return await refreshIssuer(location, again, { ...given, isAgain: true });
    }
    return {
      record: after,
      outcome: { error: cause, seen },
      isFromStart: false,
    };
  } finally {
    await reader.end();
  }
}

/** A refresh is repeated for keys that it does not know at most this often. */
const REPEAT_AFTER_MS = 30 * 1000;

/** Whether keys may have been added after the documents were read. */
function mayBeRotating(
  error: unknown,
  { repeatedAt }: IssuerRecord,
  now: Date,
): boolean {
  if (isSigError(error, "key_not_introduced")) return true;
  const isUnknown = isSigError(error, "key_not_found") ||
    isSigError(error, "key_not_authorized");
  return isUnknown && !isWithin(REPEAT_AFTER_MS, repeatedAt, now);
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
  const { verification, sha256, etag, proof, ...held } = feed;
  const { keys } = loaded;
  const result = verification.result();
  const { warnings: all, state: { history } } = result;
  const warnings = withoutPast(all, (at) => history.issuedAt(at), options);
  const pin = {
    ...await makePin({ verification, keys, sha256, etag, at: now }, record.pin),
    ...(proof && { proof }),
  };
  return {
    pin,
    keys,
    documents,
    feed: {
      ...held,
      verification,
      ref: loaded.metadata.events_uri,
      publicOnly: loaded.metadata.public_only,
    },
    observation: {
      observedAt: now,
      observedAtText: pin.last_seen,
      continuity: options.largeReads !== undefined
        ? "unpinned"
        : record.pin === undefined
        ? "first_seen"
        : "consistent",
      verified: {
        issuer: loaded.issuer,
        source: loaded.source,
        state: result.state,
        feed: { ...result, sha256, warnings },
        warnings: [
          ...loaded.warnings,
          ...feed.warnings,
          ...contradictionWarning(record.lastContradiction),
          ...addedKeys(record.pin, pin).map((kid) => ({
            code: "key_added" as const,
            detail: `key ${quote(kid)} has signed for the first time`,
          })),
          ...warnings,
        ],
      },
    },
  };
}

/**
 * The issuer's documents. The requests of a refresh are sent together, where the
 * metadata of the last one says what they will be. They go to the issuer's own
 * origin alone, which is proven again before anything of them is looked at.
 * (docs/protocol.md §1)
 */
function askAhead(
  { reader, metadataRef }: IssuerLocation,
  before: IssuerRecord,
  options: Pick<RefreshOptions, "limits" | "now">,
): IssuerDocuments {
  const { unusable, held } = before;
  const kept = (unusable ? undefined : held?.documents) ?? NO_DOCUMENTS;
  if (reader.kind !== "remote" || kept.get("metadata")?.ref !== metadataRef) {
    return new IssuerDocuments(reader, kept);
  }
  const limits = options.limits ?? DEFAULT_LIMITS;
  const didRef = new URL(WELL_KNOWN_PATHS.did_document, metadataRef).href;
  const small = [
    ["metadata", limits.maxMetadataBytes, metadataRef],
    ["jwks", limits.maxJwksBytes, kept.get("jwks")?.ref],
    ["did_document", limits.maxDidDocumentBytes, didRef],
    ["proof", MAX_CHECKPOINT_BYTES, kept.get("proof")?.ref],
  ] as const;
  const likely: LikelyDocument[] = [];
  const add = (ref: string | undefined, options: OpenOptions) => {
    if (ref === undefined || !isSameOrigin(ref, metadataRef)) return;
    likely.push({ ref, options });
  };
  for (const [name, maxBytes, ref] of small) {
    const found = kept.get(name);
    const conditions = conditionsFor(found?.ref === ref ? found : undefined);
    add(ref, { name, maxBytes, conditions });
  }
  const feedRef = held?.feed?.ref;
  const conditions = feedRef === undefined
    ? undefined
    : conditionsToContinue(before, feedRef, options.now);
  if (conditions !== undefined) {
    add(feedRef, { name: "feed", maxBytes: limits.maxFeedBytes, conditions });
  }
  return new IssuerDocuments(reader, kept, likely);
}

function isSameOrigin(ref: string, other: string): boolean {
  return new URL(ref).origin === new URL(other).origin;
}
