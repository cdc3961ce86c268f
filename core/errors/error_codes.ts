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
  invalid_request: { category: "usage", status: 400 },
  invalid_json: { category: "usage", status: 400 },
  requirements_empty: { category: "usage", status: 400 },
  invalid_requirement: { category: "usage", status: 400 },
  invalid_identifier: { category: "usage", status: 400 },
  unsupported_did_method: { category: "usage", status: 400 },
  insecure_url: { category: "usage", status: 400 },
  ambiguous_relationship: { category: "usage", status: 400 },
  confirmation_required: { category: "usage", status: 400 },
  method_not_allowed: { category: "usage", status: 405 },
  unsupported_media_type: { category: "usage", status: 415 },
  missing_field: { category: "invalid", status: 422 },
  invalid_field: { category: "invalid", status: 422 },
  unsupported_spec_version: { category: "invalid", status: 422 },
  unknown_event_type: { category: "invalid", status: 422 },
  status_not_active: { category: "invalid", status: 422 },
  revoke_target_mismatch: { category: "invalid", status: 422 },
  private_event_in_public_feed: { category: "invalid", status: 422 },
  duplicate_json_member: { category: "invalid", status: 422 },
  invalid_envelope: { category: "invalid", status: 422 },
  invalid_base64url: { category: "invalid", status: 422 },
  invalid_header: { category: "invalid", status: 422 },
  typ_mismatch: { category: "invalid", status: 422 },
  algorithm_not_allowed: { category: "invalid", status: 422 },
  crit_not_supported: { category: "invalid", status: 422 },
  signature_invalid: { category: "invalid", status: 422 },
  invalid_key: { category: "invalid", status: 422 },
  private_key_in_jwks: { category: "invalid", status: 422 },
  key_not_found: { category: "invalid", status: 422 },
  duplicate_kid: { category: "invalid", status: 422 },
  invalid_line: { category: "invalid", status: 422 },
  incomplete_line: { category: "invalid", status: 422 },
  sequence_gap: { category: "invalid", status: 422 },
  sequence_out_of_order: { category: "invalid", status: 422 },
  duplicate_event_id: { category: "invalid", status: 422 },
  issuer_mismatch: { category: "invalid", status: 422 },
  revoke_without_upsert: { category: "invalid", status: 422 },
  invalid_metadata: { category: "invalid", status: 422 },
  invalid_did_document: { category: "invalid", status: 422 },
  key_not_authorized: { category: "invalid", status: 422 },
  invalid_attestation: { category: "invalid", status: 422 },
  invalid_invitation: { category: "invalid", status: 422 },
  invalid_checkpoint: { category: "invalid", status: 422 },
  proof_invalid: { category: "invalid", status: 422 },
  invalid_evidence: { category: "invalid", status: 422 },
  invalid_recovery: { category: "invalid", status: 422 },
  issuer_not_allowed: { category: "refused", status: 403 },
  address_not_allowed: { category: "refused", status: 403 },
  audience_not_allowed: { category: "refused", status: 403 },
  audience_mismatch: { category: "refused", status: 403 },
  nonce_mismatch: { category: "refused", status: 403 },
  scope_not_granted: { category: "refused", status: 403 },
  subject_mismatch: { category: "refused", status: 403 },
  relationship_denied: { category: "refused", status: 403 },
  attestation_signature_invalid: { category: "refused", status: 403 },
  attestation_time_invalid: { category: "refused", status: 403 },
  unauthorized: { category: "refused", status: 401 },
  host_not_allowed: { category: "refused", status: 421 },
  origin_not_allowed: { category: "refused", status: 403 },
  not_found: { category: "not_found", status: 404 },
  challenge_not_found: { category: "not_found", status: 404 },
  source_not_found: { category: "not_found", status: 404 },
  signing_key_not_found: { category: "not_found", status: 404 },
  feed_rolled_back: { category: "conflict", status: 409 },
  feed_rewritten: { category: "conflict", status: 409 },
  key_replaced: { category: "conflict", status: 409 },
  key_withdrawn: { category: "conflict", status: 409 },
  state_contradicted: { category: "conflict", status: 409 },
  key_not_introduced: { category: "conflict", status: 409 },
  recovery_contradicted: { category: "conflict", status: 409 },
  challenge_used: { category: "conflict", status: 409 },
  issuer_exists: { category: "conflict", status: 409 },
  kid_exists: { category: "conflict", status: 409 },
  feed_locked: { category: "conflict", status: 409 },
  already_revoked: { category: "conflict", status: 409 },
  unknown_relationship: { category: "conflict", status: 409 },
  consistency_unavailable: { category: "conflict", status: 409 },
  plan_outdated: { category: "conflict", status: 409 },
  invitation_used: { category: "conflict", status: 409 },
  subject_changed: { category: "conflict", status: 409 },
  challenge_expired: { category: "gone", status: 410 },
  challenge_burned: { category: "gone", status: 410 },
  invitation_expired: { category: "gone", status: 410 },
  body_too_large: { category: "limit", status: 413 },
  line_too_long: { category: "limit", status: 413 },
  feed_too_large: { category: "limit", status: 413 },
  document_too_large: { category: "limit", status: 413 },
  too_many_events: { category: "limit", status: 413 },
  rate_limited: { category: "limit", status: 429 },
  fetch_failed: { category: "unavailable", status: 502 },
  fetch_status: { category: "unavailable", status: 502 },
  fetch_redirected: { category: "unavailable", status: 502 },
  fetch_media_type: { category: "unavailable", status: 502 },
  key_unresolvable: { category: "unavailable", status: 502 },
  fetch_timeout: { category: "unavailable", status: 504 },
  feed_stale: { category: "unavailable", status: 503 },
  checkpoint_stale: { category: "unavailable", status: 503 },
  cosignatures_missing: { category: "unavailable", status: 503 },
  store_unavailable: { category: "unavailable", status: 503 },
  write_failed: { category: "unavailable", status: 503 },
  overloaded: { category: "unavailable", status: 503 },
  request_timeout: { category: "unavailable", status: 408 },
  internal: { category: "internal", status: 500 },
} as const satisfies Readonly<Record<string, ErrorCodeInfo>>;

/** An error code of the registry. */
export type ErrorCode = keyof typeof ERROR_CODES;
