/** Headers and media types of an issuer's documents, for every server. @module */

import { type SigMetadata, WELL_KNOWN_PATHS } from "@sig/core";

/** The methods that a document knows. */
export const SITE_METHODS = "GET, HEAD, OPTIONS";

/** Headers of every response. */
export const SITE_HEADERS = Object.freeze(
  {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag, content-range, accept-ranges",
    "x-content-type-options": "nosniff",
    // A consumer asks again, and gets 304 while nothing has changed. Unchanged
    // bytes, since readers refuse every content-encoding.
    "cache-control": "no-cache, no-transform",
  } as const,
);

/** What else the answer to a preflight says (Fetch §3.2.2). */
export const PREFLIGHT_HEADERS = Object.freeze(
  {
    "access-control-allow-methods": SITE_METHODS,
    "access-control-allow-headers": "range, if-none-match, if-range",
  } as const,
);

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
