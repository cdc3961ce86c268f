/** Which documents an issuer publishes, and of which media type. @module */

import { type SigMetadata, WELL_KNOWN_PATHS } from "@sig/core";

const JSON_TYPE = "application/json";

/** The media type of a feed. */
export const FEED_TYPE = "application/x-ndjson";

/** Paths and types of what is found without the metadata. */
export const FIXED_TYPES: ReadonlyMap<string, string> = new Map([
  [WELL_KNOWN_PATHS.did_document, "application/did+json"],
  [WELL_KNOWN_PATHS.metadata, JSON_TYPE],
]);

/** The media types of an issuer's documents, by the paths of their URLs. */
export function documentTypes(
  { events_uri, jwks_uri }: SigMetadata,
): ReadonlyMap<string, string> {
  const pathOf = (url: string) => new URL(url).pathname;
  return new Map([
    [pathOf(jwks_uri), JSON_TYPE],
    [pathOf(events_uri), FEED_TYPE],
    ...FIXED_TYPES,
  ]);
}
