import { assert, assertEquals } from "@std/assert";
import {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "./error_codes.ts";

/** docs/reference/errors.md, written down a second time. */
const EXPECTED: readonly (readonly [ErrorCategory, number, string])[] = [
  [
    "usage",
    400,
    "invalid_request invalid_json requirements_empty invalid_requirement " +
    "invalid_identifier unsupported_did_method insecure_url " +
    "ambiguous_relationship confirmation_required",
  ],
  ["usage", 405, "method_not_allowed"],
  ["usage", 415, "unsupported_media_type"],
  [
    "invalid",
    422,
    "missing_field invalid_field unsupported_spec_version unknown_event_type " +
    "status_not_active revoke_target_mismatch private_event_in_public_feed " +
    "duplicate_json_member invalid_envelope invalid_base64url invalid_header " +
    "typ_mismatch algorithm_not_allowed crit_not_supported signature_invalid " +
    "invalid_key private_key_in_jwks key_not_found duplicate_kid " +
    "invalid_line incomplete_line sequence_gap sequence_out_of_order " +
    "duplicate_event_id issuer_mismatch revoke_without_upsert " +
    "invalid_metadata invalid_did_document key_not_authorized " +
    "invalid_attestation invalid_invitation",
  ],
  [
    "refused",
    403,
    "issuer_not_allowed address_not_allowed audience_not_allowed " +
    "audience_mismatch nonce_mismatch scope_not_granted subject_mismatch " +
    "relationship_denied attestation_signature_invalid " +
    "attestation_time_invalid",
  ],
  ["refused", 401, "unauthorized"],
  ["refused", 421, "host_not_allowed"],
  // Not in the contract's list: a page of another site asks.
  ["refused", 403, "origin_not_allowed"],
  [
    "not_found",
    404,
    "not_found challenge_not_found source_not_found signing_key_not_found",
  ],
  [
    "conflict",
    409,
    "feed_rolled_back feed_rewritten key_replaced key_withdrawn " +
    "challenge_used issuer_exists kid_exists feed_locked already_revoked " +
    "unknown_relationship consistency_unavailable plan_outdated " +
    "invitation_used",
  ],
  ["gone", 410, "challenge_expired challenge_burned invitation_expired"],
  [
    "limit",
    413,
    "body_too_large line_too_long feed_too_large document_too_large " +
    "too_many_events",
  ],
  ["limit", 429, "rate_limited"],
  [
    "unavailable",
    502,
    "fetch_failed fetch_status fetch_redirected fetch_media_type " +
    "key_unresolvable",
  ],
  ["unavailable", 504, "fetch_timeout"],
  [
    "unavailable",
    503,
    "feed_stale store_unavailable write_failed overloaded",
  ],
  ["unavailable", 408, "request_timeout"],
  ["internal", 500, "internal"],
];

Deno.test("the registry holds exactly the documented codes", () => {
  const expected = EXPECTED.flatMap(([category, status, codes]) =>
    codes.split(" ").map((code) => ({ code, category, status }))
  );
  const actual = Object.entries(ERROR_CODES).map(([code, info]) => ({
    code,
    category: info.category,
    status: info.status,
  }));
  const byCode = (a: { code: string }, b: { code: string }) =>
    a.code < b.code ? -1 : 1;
  assertEquals(actual.sort(byCode), expected.sort(byCode));
});

Deno.test("the registry can't be changed by those who import it", () => {
  assert(Object.isFrozen(ERROR_CODES));
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    assert(Object.isFrozen(ERROR_CODES[code]), code);
  }
});
