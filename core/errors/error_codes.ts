/**
 * The closed registry of error codes. A code is never renamed or reused; its
 * message may change.
 *
 * @module
 */

/** The categories of errors. */
export const ERROR_CATEGORIES = [
  "usage",
  "invalid",
  "refused",
  "not_found",
  "conflict",
  "gone",
  "limit",
  "unavailable",
  "internal",
] as const;

/** A category of errors; decides the HTTP status and the exit code. */
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

/** An entry of {@linkcode ERROR_CODES}. */
export interface ErrorCodeInfo {
  /** The category of the error. */
  readonly category: ErrorCategory;
  /** HTTP status of a problem response with this code. */
  readonly status: number;
}

// Each is one object: a bundle would otherwise repeat category and status with
// every code.
const USAGE = { category: "usage", status: 400 } as const;
const INVALID = { category: "invalid", status: 422 } as const;
const REFUSED = { category: "refused", status: 403 } as const;
const NOT_FOUND = { category: "not_found", status: 404 } as const;
const CONFLICT = { category: "conflict", status: 409 } as const;
const GONE = { category: "gone", status: 410 } as const;
const LIMIT = { category: "limit", status: 413 } as const;
const FETCH = { category: "unavailable", status: 502 } as const;
const UNAVAILABLE = { category: "unavailable", status: 503 } as const;

/**
 * The error codes with their category and HTTP status.
 *
 * @example Get the HTTP status of a code
 * ```ts
 * import { ERROR_CODES } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ERROR_CODES.signature_invalid.status, 422);
 * assertEquals(ERROR_CODES.feed_locked.category, "conflict");
 * ```
 */
export const ERROR_CODES = {
  invalid_request: USAGE,
  invalid_json: USAGE,
  requirements_empty: USAGE,
  invalid_requirement: USAGE,
  invalid_identifier: USAGE,
  unsupported_did_method: USAGE,
  insecure_url: USAGE,
  ambiguous_relationship: USAGE,
  confirmation_required: USAGE,
  method_not_allowed: { category: "usage", status: 405 },
  unsupported_media_type: { category: "usage", status: 415 },
  missing_field: INVALID,
  invalid_field: INVALID,
  unsupported_spec_version: INVALID,
  unknown_event_type: INVALID,
  status_not_active: INVALID,
  revoke_target_mismatch: INVALID,
  private_event_in_public_feed: INVALID,
  duplicate_json_member: INVALID,
  invalid_envelope: INVALID,
  invalid_base64url: INVALID,
  invalid_header: INVALID,
  typ_mismatch: INVALID,
  algorithm_not_allowed: INVALID,
  crit_not_supported: INVALID,
  signature_invalid: INVALID,
  invalid_key: INVALID,
  private_key_in_jwks: INVALID,
  key_not_found: INVALID,
  duplicate_kid: INVALID,
  invalid_line: INVALID,
  incomplete_line: INVALID,
  sequence_gap: INVALID,
  sequence_out_of_order: INVALID,
  duplicate_event_id: INVALID,
  issuer_mismatch: INVALID,
  revoke_without_upsert: INVALID,
  invalid_metadata: INVALID,
  invalid_did_document: INVALID,
  key_not_authorized: INVALID,
  invalid_attestation: INVALID,
  invalid_invitation: INVALID,
  invalid_checkpoint: INVALID,
  proof_invalid: INVALID,
  invalid_evidence: INVALID,
  invalid_recovery: INVALID,
  issuer_not_allowed: REFUSED,
  address_not_allowed: REFUSED,
  audience_not_allowed: REFUSED,
  audience_mismatch: REFUSED,
  nonce_mismatch: REFUSED,
  scope_not_granted: REFUSED,
  subject_mismatch: REFUSED,
  relationship_denied: REFUSED,
  attestation_signature_invalid: REFUSED,
  attestation_time_invalid: REFUSED,
  unauthorized: { category: "refused", status: 401 },
  host_not_allowed: { category: "refused", status: 421 },
  origin_not_allowed: REFUSED,
  not_found: NOT_FOUND,
  challenge_not_found: NOT_FOUND,
  source_not_found: NOT_FOUND,
  signing_key_not_found: NOT_FOUND,
  feed_rolled_back: CONFLICT,
  feed_rewritten: CONFLICT,
  key_replaced: CONFLICT,
  key_withdrawn: CONFLICT,
  state_contradicted: CONFLICT,
  key_not_introduced: CONFLICT,
  recovery_contradicted: CONFLICT,
  challenge_used: CONFLICT,
  issuer_exists: CONFLICT,
  kid_exists: CONFLICT,
  feed_locked: CONFLICT,
  already_revoked: CONFLICT,
  unknown_relationship: CONFLICT,
  consistency_unavailable: CONFLICT,
  plan_outdated: CONFLICT,
  invitation_used: CONFLICT,
  subject_changed: CONFLICT,
  challenge_expired: GONE,
  challenge_burned: GONE,
  invitation_expired: GONE,
  body_too_large: LIMIT,
  line_too_long: LIMIT,
  feed_too_large: LIMIT,
  document_too_large: LIMIT,
  too_many_events: LIMIT,
  rate_limited: { category: "limit", status: 429 },
  fetch_failed: FETCH,
  fetch_status: FETCH,
  fetch_redirected: FETCH,
  fetch_media_type: FETCH,
  key_unresolvable: FETCH,
  fetch_timeout: { category: "unavailable", status: 504 },
  feed_stale: UNAVAILABLE,
  checkpoint_stale: UNAVAILABLE,
  cosignatures_missing: UNAVAILABLE,
  store_unavailable: UNAVAILABLE,
  write_failed: UNAVAILABLE,
  overloaded: UNAVAILABLE,
  request_timeout: { category: "unavailable", status: 408 },
  internal: { category: "internal", status: 500 },
} as const satisfies Readonly<Record<string, ErrorCodeInfo>>;

/** An error code of the registry. */
export type ErrorCode = keyof typeof ERROR_CODES;
