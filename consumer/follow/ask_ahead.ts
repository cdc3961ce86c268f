/** What a refresh most likely reads, asked for in one go. @module */

import { DEFAULT_LIMITS, WELL_KNOWN_PATHS } from "@sig/core";
import type { DocumentName } from "../fetch/media_type.ts";
import {
  AskedAhead,
  conditionsFor,
  type HeldDocuments,
  type LikelyDocument,
  NO_DOCUMENTS,
} from "../read/issuer_documents.ts";
import type { IssuerLocation, OpenOptions } from "../read/reader.ts";
import type { IssuerRecord } from "../memory/issuer_record.ts";
import { conditionsToContinue, type RefreshOptions } from "./read_feed.ts";

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
