/** What every answer for an issuer's documents says, whoever serves them. @module */

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
