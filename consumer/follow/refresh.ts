/** Reading an issuer again, for no more than is needed (docs/protocol.md §6). @module */

import {
  DEFAULT_LIMITS,
  isSigError,
  type Warning,
  WELL_KNOWN_PATHS,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { MAX_CHECKPOINT_BYTES } from "@sig/jose/proofs";
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
  makePin,
  namePin,
} from "../memory/pin.ts";
import {
  conditionsFor,
  type HeldDocuments,
  IssuerDocuments,
  type LikelyDocument,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation, OpenOptions } from "../read/reader.ts";
import { ProofsOfFeed } from "./full_read.ts";
import { lacksKey } from "../verify/feed_fault.ts";
import type { LoadedIssuer } from "../verify/load_issuer.ts";
import type { VerifiedIssuer } from "../verify/verify_feed.ts";
import { type FetchedKeys, fetchedKeys, isWithin } from "./check_continuity.ts";
import {
  conditionsToContinue,
  type ReadFeed,
  readFeed,
  type RefreshOptions,
} from "./read_feed.ts";

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
  try {
    const loaded = await proofs.load(options);
    const keys = await fetchedKeys(loaded.keys);
    const stored = before.known?.pin;
    const pin = stored && await namePin(stored, keys.published);
    const asked = { record: before, pin, loaded, keys, proofs, options };
    const feed = await readFeed(asked);
    const read = { loaded, keys, feed, documents, pin };
    const after = await complete(location, before, read, options);
    return { record: after, isFromStart: feed.isFromStart };
  } catch (error) {
    const failure = RefreshFailure.of(error);
    const after = acceptFailure(before, failure, now);
    const isForgotten = given.largeReads && contradictionOf(failure.cause);
    const mayPass = isForgotten || mayBeRotating(failure.cause, before, now);
    if (mayPass && !given.isAgain) {
      await reader.end();
      const again = isForgotten
        ? NOTHING_KNOWN
        : { ...before, held: after.held, repeatedAt: now };
      return await refreshIssuer(location, again, { ...given, isAgain: true });
    }
    return { record: after, failure, isFromStart: false };
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
  return isSigError(error) && lacksKey(error) &&
    !isWithin(REPEAT_AFTER_MS, repeatedAt, now);
}

/** The result of reading an issuer without a fault. */
interface ReadIssuer {
  readonly loaded: LoadedIssuer;
  readonly keys: FetchedKeys;
  readonly feed: ReadFeed;
  readonly documents: HeldDocuments;
  /** What the feed was compared with. */
  readonly pin: IssuerPin | undefined;
}

/** What the record is from then on. */
async function complete(
  { metadataRef: place }: IssuerLocation,
  before: IssuerRecord,
  { loaded, keys: { published }, feed, documents, pin: pinned }: ReadIssuer,
  options: RefreshOptions,
): Promise<IssuerRecord> {
  const { now, largeReads } = options;
  const { verification, sha256, etag, proof, ...held } = feed;
  const { keys, metadata: { events_uri: ref, public_only } } = loaded;
  const read = { verification, published, sha256, etag, at: now };
  const pin = { ...makePin(read, pinned), ...(proof && { proof }) };
  const isPinned = largeReads === undefined;
  const continuity = pinned === undefined ? "first_seen" : "consistent";
  return {
    ...before,
    known: await continuePin(before.known, pin, {
      place,
      source: loaded.source === "http" ? "http" : "https",
      public_only,
      policy: policyOf(options),
      compared_at: feed.comparedAt.toISOString(),
    }),
    held: {
      ...{ pin, keys, documents },
      feed: { ...held, verification, ref, publicOnly: public_only },
      observation: {
        observedAt: now,
        continuity: isPinned ? continuity : "unpinned",
        verified: verifiedBy(loaded, feed, options, [
          ...contradictionWarning(before.known),
          ...addedKeys(pinned, pin).map((kid) => ({
            code: "key_added" as const,
            detail: `key ${quote(kid)} has signed for the first time`,
          })),
        ]),
      },
    },
  };
}

function verifiedBy(
  { issuer, source, warnings: ofDocuments }: LoadedIssuer,
  { verification, sha256, warnings: ofServer }: ReadFeed,
  options: RefreshOptions,
  ofHistory: readonly Warning[],
): VerifiedIssuer {
  const result = verification.result();
  const { state } = result;
  const { history } = state;
  const warnings = withoutPast(
    result.warnings,
    (at) => history.issuedAt(at),
    options,
  );
  return {
    ...{ issuer, source, state },
    feed: { ...result, sha256, warnings },
    warnings: [...ofDocuments, ...ofServer, ...ofHistory, ...warnings],
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
  const { held } = before;
  const isKept = held !== undefined && !isUnusable(before);
  const kept = isKept ? held.documents : NO_DOCUMENTS;
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
