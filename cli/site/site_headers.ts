/**
 * Headers and media types of an issuer's documents, for all servers. @module
 */

import { type SigMetadata, WELL_KNOWN_PATHS } from "@sig/core";

/** The methods that documents support. */
export const SITE_METHODS = "GET, HEAD, OPTIONS";

/** Headers of every response. */
export const SITE_HEADERS = Object.freeze(
  {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "etag, content-range, accept-ranges",
    "x-content-type-options": "nosniff",
    // `no-cache`: a consumer revalidates, and gets 304 if nothing has changed.
    // `no-transform`: readers refuse every content-encoding.
    "cache-control": "no-cache, no-transform",
  } as const,
);

/** Additional headers of the response to a preflight (Fetch §3.2.2). */
export const PREFLIGHT_HEADERS = Object.freeze(
  {
    "access-control-allow-methods": SITE_METHODS,
    "access-control-allow-headers": "range, if-none-match, if-range",
  } as const,
);

/**
 * Headers of files whose content never changes, since their name determines it.
 */
export const IMMUTABLE_HEADERS = Object.freeze(
  {
    ...SITE_HEADERS,
    "cache-control": "public, max-age=31536000, immutable, no-transform",
  } as const,
);

const JSON_TYPE = "application/json";

const CHECKPOINT_TYPE = "text/plain; charset=utf-8";

/** The media type of a feed. */
export const FEED_TYPE = "application/x-ndjson";

/** Paths and types of the documents with fixed paths. */
export const FIXED_TYPES: ReadonlyMap<string, string> = new Map([
  [WELL_KNOWN_PATHS.did_document, "application/did+json"],
  [WELL_KNOWN_PATHS.metadata, JSON_TYPE],
]);

/** The media type of tiles and state files. */
export const PROOF_TYPE = "application/octet-stream";

/** Returns the path of the proofs; undefined if the metadata has none. */
export function proofsPath({ proofs_uri }: SigMetadata): string | undefined {
  return proofs_uri && new URL(proofs_uri).pathname;
}

/**
 * Returns the media types of an issuer's documents, by the paths of their URLs.
 */
export function documentTypes(
  metadata: SigMetadata,
): ReadonlyMap<string, string> {
  const { events_uri, jwks_uri } = metadata;
  const pathOf = (url: string) => new URL(url).pathname;
  const proofs = proofsPath(metadata);
  return new Map([
    ...(proofs ? [[`${proofs}checkpoint`, CHECKPOINT_TYPE] as const] : []),
    [pathOf(jwks_uri), JSON_TYPE],
    [pathOf(events_uri), FEED_TYPE],
    ...FIXED_TYPES,
  ]);
}
