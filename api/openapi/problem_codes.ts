/** Which problems which routes can give. @module */

import { ERROR_CODES, type ErrorCode } from "@sig/core";

const ALL = Object.keys(ERROR_CODES) as ErrorCode[];

/** A body that is wrong by itself. */
export const REQUEST_CODES: readonly ErrorCode[] = [
  ...["invalid_json", "unsupported_media_type"] as const,
  ...["body_too_large", "request_timeout", "origin_not_allowed"] as const,
];

/** A source that is invalid, or may not be asked. */
export const SOURCE_CODES: readonly ErrorCode[] = [
  ...["invalid_identifier", "unsupported_did_method", "insecure_url"] as const,
  ...["issuer_not_allowed", "address_not_allowed"] as const,
];

/** What an issuer published is wrong, or contradicts what is remembered. */
export const FAULT_CODES: readonly ErrorCode[] = [
  ...ALL.filter((code) =>
    ERROR_CODES[code].category === "invalid" && code !== "invalid_attestation"
  ),
  ...["feed_rolled_back", "feed_rewritten", "key_replaced"] as const,
  ...["key_withdrawn", "line_too_long"] as const,
];

/** What an issuer published can't be got. */
export const FETCH_CODES: readonly ErrorCode[] = [
  ...["fetch_failed", "fetch_status", "fetch_redirected"] as const,
  ...["fetch_media_type", "fetch_timeout", "document_too_large"] as const,
  ...["feed_too_large", "too_many_events", "overloaded"] as const,
];

/** What every route can give. */
export const COMMON_CODES: readonly ErrorCode[] = [
  // An invalid host is `invalid_request`, whatever is asked.
  ...["invalid_request", "host_not_allowed", "method_not_allowed"] as const,
  "internal",
];

/** What a route can give that is not answered however busy the service is. */
export const BUSY_CODES: readonly ErrorCode[] = ["rate_limited", "overloaded"];
