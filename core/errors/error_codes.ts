/**
 * The closed registry of error codes. A code is never renamed or reused; its
 * message may change.
 *
 * @module
 */

import { closedList } from "./closed_list.ts";

/** What kind of trouble an error is; decides the HTTP status and exit code. */
export type ErrorCategory =
  | "usage"
  | "invalid"
  | "refused"
  | "not_found"
  | "conflict"
  | "gone"
  | "limit"
  | "unavailable"
  | "internal";

/** Every category of errors. */
export const ERROR_CATEGORIES: readonly ErrorCategory[] = closedList<
  ErrorCategory
>({
  usage: true,
  invalid: true,
  refused: true,
  not_found: true,
  conflict: true,
  gone: true,
  limit: true,
  unavailable: true,
  internal: true,
});

/** One row of {@linkcode ERROR_CODES}. */
export interface ErrorCodeInfo {
  /** What kind of trouble it is. */
  readonly category: ErrorCategory;
  /** The HTTP status of a problem with this code. */
  readonly status: number;
}

/** A code of the registry. */
export type ErrorCode =
  | "invalid_request"
  | "invalid_json"
  | "requirements_empty"
  | "invalid_requirement"
  | "invalid_identifier"
  | "unsupported_did_method"
  | "insecure_url"
  | "ambiguous_relationship"
  | "confirmation_required"
  | "method_not_allowed"
  | "unsupported_media_type"
  | "missing_field"
  | "invalid_field"
  | "unsupported_spec_version"
  | "unknown_event_type"
  | "status_not_active"
  | "revoke_target_mismatch"
  | "private_event_in_public_feed"
  | "duplicate_json_member"
  | "invalid_envelope"
  | "invalid_base64url"
  | "invalid_header"
  | "typ_mismatch"
  | "algorithm_not_allowed"
  | "crit_not_supported"
  | "signature_invalid"
  | "invalid_key"
  | "private_key_in_jwks"
  | "key_not_found"
  | "duplicate_kid"
  | "invalid_line"
  | "incomplete_line"
  | "sequence_gap"
  | "sequence_out_of_order"
  | "duplicate_event_id"
  | "issuer_mismatch"
  | "revoke_without_upsert"
  | "invalid_metadata"
  | "invalid_did_document"
  | "key_not_authorized"
  | "invalid_attestation"
  | "invalid_invitation"
  | "issuer_not_allowed"
  | "address_not_allowed"
  | "audience_not_allowed"
  | "audience_mismatch"
  | "nonce_mismatch"
  | "scope_not_granted"
  | "subject_mismatch"
  | "relationship_denied"
  | "attestation_signature_invalid"
  | "attestation_time_invalid"
  | "unauthorized"
  | "host_not_allowed"
  | "origin_not_allowed"
  | "not_found"
  | "challenge_not_found"
  | "source_not_found"
  | "signing_key_not_found"
  | "feed_rolled_back"
  | "feed_rewritten"
  | "key_replaced"
  | "key_withdrawn"
  | "challenge_used"
  | "issuer_exists"
  | "kid_exists"
  | "feed_locked"
  | "already_revoked"
  | "unknown_relationship"
  | "consistency_unavailable"
  | "plan_outdated"
  | "invitation_used"
  | "challenge_expired"
  | "challenge_burned"
  | "invitation_expired"
  | "body_too_large"
  | "line_too_long"
  | "feed_too_large"
  | "document_too_large"
  | "too_many_events"
  | "rate_limited"
  | "fetch_failed"
  | "fetch_status"
  | "fetch_redirected"
  | "fetch_media_type"
  | "key_unresolvable"
  | "fetch_timeout"
  | "feed_stale"
  | "store_unavailable"
  | "write_failed"
  | "overloaded"
  | "request_timeout"
  | "internal";

function info(category: ErrorCategory, status: number): ErrorCodeInfo {
  return Object.freeze({ category, status });
}

/**
 * Every error code with its category and HTTP status.
 *
 * @example A code's HTTP status
 * ```ts
 * import { ERROR_CODES } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(ERROR_CODES.signature_invalid.status, 422);
 * assertEquals(ERROR_CODES.feed_locked.category, "conflict");
 * ```
 */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeInfo>> = Object
  .freeze({
    invalid_request: info("usage", 400),
    invalid_json: info("usage", 400),
    requirements_empty: info("usage", 400),
    invalid_requirement: info("usage", 400),
    invalid_identifier: info("usage", 400),
    unsupported_did_method: info("usage", 400),
    insecure_url: info("usage", 400),
    ambiguous_relationship: info("usage", 400),
    confirmation_required: info("usage", 400),
    method_not_allowed: info("usage", 405),
    unsupported_media_type: info("usage", 415),
    missing_field: info("invalid", 422),
    invalid_field: info("invalid", 422),
    unsupported_spec_version: info("invalid", 422),
    unknown_event_type: info("invalid", 422),
    status_not_active: info("invalid", 422),
    revoke_target_mismatch: info("invalid", 422),
    private_event_in_public_feed: info("invalid", 422),
    duplicate_json_member: info("invalid", 422),
    invalid_envelope: info("invalid", 422),
    invalid_base64url: info("invalid", 422),
    invalid_header: info("invalid", 422),
    typ_mismatch: info("invalid", 422),
    algorithm_not_allowed: info("invalid", 422),
    crit_not_supported: info("invalid", 422),
    signature_invalid: info("invalid", 422),
    invalid_key: info("invalid", 422),
    private_key_in_jwks: info("invalid", 422),
    key_not_found: info("invalid", 422),
    duplicate_kid: info("invalid", 422),
    invalid_line: info("invalid", 422),
    incomplete_line: info("invalid", 422),
    sequence_gap: info("invalid", 422),
    sequence_out_of_order: info("invalid", 422),
    duplicate_event_id: info("invalid", 422),
    issuer_mismatch: info("invalid", 422),
    revoke_without_upsert: info("invalid", 422),
    invalid_metadata: info("invalid", 422),
    invalid_did_document: info("invalid", 422),
    key_not_authorized: info("invalid", 422),
    invalid_attestation: info("invalid", 422),
    invalid_invitation: info("invalid", 422),
    issuer_not_allowed: info("refused", 403),
    address_not_allowed: info("refused", 403),
    audience_not_allowed: info("refused", 403),
    audience_mismatch: info("refused", 403),
    nonce_mismatch: info("refused", 403),
    scope_not_granted: info("refused", 403),
    subject_mismatch: info("refused", 403),
    relationship_denied: info("refused", 403),
    attestation_signature_invalid: info("refused", 403),
    attestation_time_invalid: info("refused", 403),
    unauthorized: info("refused", 401),
    host_not_allowed: info("refused", 421),
    origin_not_allowed: info("refused", 403),
    not_found: info("not_found", 404),
    challenge_not_found: info("not_found", 404),
    source_not_found: info("not_found", 404),
    signing_key_not_found: info("not_found", 404),
    feed_rolled_back: info("conflict", 409),
    feed_rewritten: info("conflict", 409),
    key_replaced: info("conflict", 409),
    key_withdrawn: info("conflict", 409),
    challenge_used: info("conflict", 409),
    issuer_exists: info("conflict", 409),
    kid_exists: info("conflict", 409),
    feed_locked: info("conflict", 409),
    already_revoked: info("conflict", 409),
    unknown_relationship: info("conflict", 409),
    consistency_unavailable: info("conflict", 409),
    plan_outdated: info("conflict", 409),
    invitation_used: info("conflict", 409),
    challenge_expired: info("gone", 410),
    challenge_burned: info("gone", 410),
    invitation_expired: info("gone", 410),
    body_too_large: info("limit", 413),
    line_too_long: info("limit", 413),
    feed_too_large: info("limit", 413),
    document_too_large: info("limit", 413),
    too_many_events: info("limit", 413),
    rate_limited: info("limit", 429),
    fetch_failed: info("unavailable", 502),
    fetch_status: info("unavailable", 502),
    fetch_redirected: info("unavailable", 502),
    fetch_media_type: info("unavailable", 502),
    key_unresolvable: info("unavailable", 502),
    fetch_timeout: info("unavailable", 504),
    feed_stale: info("unavailable", 503),
    store_unavailable: info("unavailable", 503),
    write_failed: info("unavailable", 503),
    overloaded: info("unavailable", 503),
    request_timeout: info("unavailable", 408),
    internal: info("internal", 500),
  });
