/**
 * What each error code means, and what to do about it. Long because it is a
 * table.
 *
 * @module
 */

import type { ErrorCategory, ErrorCode } from "@sig/core";

/** Two sentences about a code. */
export interface ErrorText {
  /** What has happened. */
  readonly meaning: string;
  /** What to do next, and who. */
  readonly next: string;
}

function says(meaning: string, next: string): ErrorText {
  return { meaning, next };
}

const FIX_REQUEST = "Mend the request; the error names the place.";
const TELL_ISSUER =
  "Tell the issuer; nothing is answered from this feed until it is mended.";
const NEW_CHALLENGE = "Create a new challenge and sign that.";
const OTHER_HISTORY =
  "Ask the issuer what happened. Answers resume when the remembered history is served again; to accept the other one, `sig pin ack`, or without `--pins` restart the process.";

/** Every code; a code without a text does not compile. */
export const ERROR_TEXTS: Readonly<Record<ErrorCode, ErrorText>> = {
  invalid_request: says(
    "A request or command line is not understood: a wrong flag, an unknown member, a value of the wrong kind.",
    "Mend it; `errors` lists all places, `hint` often the word that was meant.",
  ),
  invalid_json: says(
    "A text that must be strict JSON is not, or has a member twice.",
    "Send UTF-8 JSON without doubled members.",
  ),
  requirements_empty: says(
    "A question has no requirement; that is never an allow.",
    "Require at least one of `relationship=…`, `role=…`, `relationship_id=…`.",
  ),
  invalid_requirement: says(
    "A requirement is not one of the three kinds.",
    "Write `relationship=TYPE`, `role=NAME` or `relationship_id=ID`.",
  ),
  invalid_identifier: says(
    "An issuer, subject or key identifier is malformed.",
    "Write an issuer as `acme.example` or `did:web:acme.example`.",
  ),
  unsupported_did_method: says(
    "An issuer is a DID, but not did:web; or a login's subject is neither did:key nor did:web.",
    "Use one of these methods.",
  ),
  insecure_url: says(
    "A URL is not https, or carries a user name.",
    "Use https; for a test on this machine, `--allow-insecure`.",
  ),
  ambiguous_relationship: says(
    "A row or command names a subject and a type, and several active relationships fit.",
    "Name the one that is meant by its `relationship_id`.",
  ),
  confirmation_required: says(
    "A command needs a confirmation that it did not get: `--yes` without a terminal; or a plan takes access from, or gives it to, more than 5 people and more than a tenth of those who have it, or re-admits somebody whose relationship was revoked.",
    "Look at the plan; if it is meant, repeat the command with the flags that the hint names (`--yes`, `--confirm-losses N`, `--confirm-grants N`, `--readmit`).",
  ),
  method_not_allowed: says(
    "The path exists, but not for this HTTP method.",
    "Use a method that the `Allow` header names.",
  ),
  unsupported_media_type: says(
    "The body is not `application/json`, or is compressed.",
    "Send `content-type: application/json` and no `content-encoding`.",
  ),
  missing_field: says(
    "A required member is absent.",
    "Add the member that `pointer` names.",
  ),
  invalid_field: says(
    "A member has a wrong value; when appending, also one that readers would warn about.",
    "Mend the member that `pointer` names.",
  ),
  unsupported_spec_version: says(
    "A document or event is of another version than `sig/0.1`.",
    "Read it with software for that version.",
  ),
  unknown_event_type: says(
    "An event is neither an upsert nor a revoke.",
    "If you know what it is, read with `--unknown-events ignore`.",
  ),
  status_not_active: says(
    "An upsert has a status other than `active`.",
    TELL_ISSUER,
  ),
  revoke_target_mismatch: says(
    "A revoke names two different relationships.",
    TELL_ISSUER,
  ),
  private_event_in_public_feed: says(
    "The feed is for public events only, and this one is private.",
    "Make the event public, or keep it out of the feed.",
  ),
  duplicate_json_member: says(
    "An object has the same member twice, so that readers could disagree on it.",
    TELL_ISSUER,
  ),
  invalid_envelope: says(
    "A line is not exactly `protected`, `payload` and `signature`, or its payload is not one strict JSON object.",
    TELL_ISSUER,
  ),
  invalid_base64url: says(
    "A text is not canonical base64url without padding.",
    TELL_ISSUER,
  ),
  invalid_header: says(
    "A protected header has other members than `alg`, `kid` and `typ`, or is not strict JSON.",
    TELL_ISSUER,
  ),
  typ_mismatch: says(
    "A signature was made for another purpose: an event where an attestation must be, or the reverse.",
    "Use the signature for what it was made for.",
  ),
  algorithm_not_allowed: says(
    "The header's `alg` is not `EdDSA`.",
    "Sign with Ed25519 and name it `EdDSA`.",
  ),
  crit_not_supported: says(
    "The header has `crit` or `b64`; no extension is known.",
    "Sign without extensions.",
  ),
  signature_invalid: says(
    "The signature is not that of the named key over these bytes: the line was changed, or signed by another key.",
    "Treat the feed as tampered with, and tell the issuer.",
  ),
  invalid_key: says(
    "A key is malformed, unsafe or does not belong to its other half; or a private key's file is open to others.",
    "Use the right key file; mend its mode as the hint says.",
  ),
  private_key_in_jwks: says(
    "The published key set holds a secret.",
    "Issuer: everyone may have it. Rotate the key now, and treat whatever it signed since as doubtful.",
  ),
  key_not_found: says(
    "An event is signed by a `kid` that the key set does not list.",
    "Issuer: publish the key; `jwks.json` must not lose a key that has signed.",
  ),
  duplicate_kid: says(
    "The key set lists one `kid` twice.",
    "Issuer: leave one of them.",
  ),
  invalid_line: says(
    "A line of the feed is not one JSON object in UTF-8: blank, CR LF, a byte order mark, text behind it.",
    TELL_ISSUER,
  ),
  incomplete_line: says(
    "The feed does not end with a line end: it was cut off on its way, or is being written.",
    "Try again; if it stays so, tell the issuer.",
  ),
  sequence_gap: says(
    "A sequence number is missing between two events.",
    TELL_ISSUER,
  ),
  sequence_out_of_order: says(
    "A sequence number repeats or goes back.",
    TELL_ISSUER,
  ),
  duplicate_event_id: says(
    "An `event_id` is used twice, for different content.",
    "When appending, choose another `--event-id`; in a feed, tell the issuer.",
  ),
  issuer_mismatch: says(
    "The documents or an event speak for another issuer than the host they were fetched from.",
    "Ask the host that the metadata names; issuer: publish on your own domain.",
  ),
  revoke_without_upsert: says(
    "A revoke ends a relationship that the feed never began, and the reader was told to reject that.",
    "Read without `--unmatched-revoke reject`, or tell the issuer.",
  ),
  invalid_metadata: says(
    "`sig.json` is malformed, or points outside of its origin or directory.",
    "Issuer: compare it with what `sig init` writes.",
  ),
  invalid_did_document: says(
    "`did.json` is malformed, or is another DID's.",
    "Its publisher must mend it.",
  ),
  key_not_authorized: says(
    "The key is in the key set, but the DID document does not let it sign events.",
    "Issuer: complete the rotation (`sig rotate-key` with the same `--kid`).",
  ),
  invalid_attestation: says(
    "The attestation is malformed, or answers another challenge than the one expected.",
    "Sign the challenge as it was given.",
  ),
  invalid_invitation: says(
    "The text is not an invitation, is another issuer's, or offers what can't be offered.",
    "Take the invitation as it was made, whole; else make a new one: sig invite.",
  ),
  issuer_not_allowed: says(
    "The service does not answer about this issuer.",
    "Its operator adds the issuer with `--issuer`.",
  ),
  address_not_allowed: says(
    "The host is, or resolves to, an address that is not public.",
    "Use a public host; for a test on this machine, `--allow-insecure`.",
  ),
  audience_not_allowed: says(
    "A challenge was asked for an audience that the server does not speak for.",
    "Its operator adds it with `--audience`.",
  ),
  audience_mismatch: says(
    "The attestation was made for another site.",
    "Sign only what the site itself shows; see its address.",
  ),
  nonce_mismatch: says(
    "The attestation has another nonce than its challenge.",
    NEW_CHALLENGE,
  ),
  scope_not_granted: says(
    "The attestation grants more than was asked, or less than is needed.",
    "Sign for the scopes of the challenge.",
  ),
  subject_mismatch: says(
    "The attestation's issuer, subject and key are not one party, or not the one that was asked.",
    "Sign with the key of the subject that the challenge names.",
  ),
  relationship_denied: says(
    "Login: the issuer does not (or no longer) say what is required of this subject.",
    "`reasons` say why; the issuer can change it.",
  ),
  attestation_signature_invalid: says(
    "The attestation's signature is not that of the named key.",
    "Sign again with that key.",
  ),
  attestation_time_invalid: says(
    "The attestation has expired, is from the future, or outlives its challenge.",
    "See that the signer's clock is right.",
  ),
  unauthorized: says(
    "The bearer token is missing or wrong.",
    "Send `authorization: Bearer …` with the operator's token.",
  ),
  host_not_allowed: says(
    "The request names a host that the server is not known by.",
    "Its operator adds the name with `--host`.",
  ),
  origin_not_allowed: says(
    "A page of another site sent the request.",
    "The operator adds the page's origin with `--cors-origin`.",
  ),
  not_found: says("There is nothing at this path.", "See `/openapi.json`."),
  challenge_not_found: says(
    "The challenge was never made here, or is long over. With `--store memory` a restart forgets all.",
    NEW_CHALLENGE,
  ),
  source_not_found: says(
    "A directory or file does not exist.",
    "Check the path; a word without `/` is a host, `./word` a folder.",
  ),
  signing_key_not_found: says(
    "The private part of none of the issuer's keys is at hand.",
    "Set `SIG_KEYS_DIR`, name the key with `--key`, or restore its backup.",
  ),
  feed_rolled_back: says(
    "The feed has fewer events than this process has seen.",
    OTHER_HISTORY,
  ),
  feed_rewritten: says(
    "Events that this process has seen are now others.",
    OTHER_HISTORY,
  ),
  key_replaced: says(
    "A `kid` that signed known events now stands for another key.",
    OTHER_HISTORY,
  ),
  key_withdrawn: says(
    "A key that signed known events is no longer published.",
    OTHER_HISTORY,
  ),
  challenge_used: says(
    "The challenge has been answered; it is good for one login.",
    NEW_CHALLENGE,
  ),
  issuer_exists: says(
    "`init` found documents that it would have to overwrite.",
    "Use another directory. To complete an init that broke off, repeat it with the same host, kid and keys.",
  ),
  kid_exists: says(
    "The key identifier stands for a key already.",
    "Choose another `--kid`.",
  ),
  feed_locked: says(
    "Another process was writing for the whole wait (10 s).",
    "Try again; look for a writer that hangs.",
  ),
  already_revoked: says(
    "The relationship is revoked already.",
    "To correct its reason or time, revoke with `--amend`.",
  ),
  unknown_relationship: says(
    "The feed has no relationship of this identifier.",
    "Look it up with `sig dump-state` or `sig log`.",
  ),
  consistency_unavailable: says(
    "The feed has not reached the sequence that the question demands.",
    "Try again later, or see whether the right feed is published.",
  ),
  plan_outdated: says(
    "A saved plan was made for another feed than the one that is there now.",
    "Make the plan again, and look at it again.",
  ),
  invitation_used: says(
    "Somebody else has answered the invitation, and was enrolled with it.",
    "Find out who (sig log); make a new invitation: sig invite.",
  ),
  challenge_expired: says(
    "The challenge was answered too late.",
    NEW_CHALLENGE,
  ),
  challenge_burned: says(
    "Five attempts that knew the nonce have failed.",
    NEW_CHALLENGE,
  ),
  invitation_expired: says(
    "The invitation was answered, or the answer enrolled, too late.",
    "See whether it was used before (sig who); make a new one: sig invite.",
  ),
  body_too_large: says(
    "The request's body is larger than allowed.",
    "Send less: fewer checks, or the issuer's name instead of its feed.",
  ),
  line_too_long: says(
    "A line of the feed has more than 64 KiB.",
    "Issuer: write less into the event.",
  ),
  feed_too_large: says(
    "The feed has more bytes than the reader takes.",
    "Raise `limits` in the library; the API takes 64 MiB, with `--pins` of what is new.",
  ),
  document_too_large: says(
    "`sig.json`, `jwks.json` or `did.json` is larger than allowed.",
    "Its publisher must shorten it.",
  ),
  too_many_events: says(
    "The feed has more events than the reader takes.",
    "Raise `limits` in the library; the API takes 250,000, with `--pins` of what is new.",
  ),
  rate_limited: says(
    "One address has asked too often, or too many challenges are open.",
    "Wait as `Retry-After` says.",
  ),
  fetch_failed: says(
    "The host could not be reached: no such name, no connection, no valid certificate.",
    "See that the host is right and up; try again.",
  ),
  fetch_status: says(
    "The issuer's server answered with another status than 200.",
    "See whether the document is published at that address.",
  ),
  fetch_redirected: says(
    "The issuer's server redirects, and no redirect is followed.",
    "Issuer: serve the documents on the host of the DID itself.",
  ),
  fetch_media_type: says(
    "The answer is a page or form, not a document.",
    "Issuer: serve the file itself, not an error page with status 200.",
  ),
  key_unresolvable: says(
    "The key of a login's subject can't be found.",
    "List the key in the subject's `did.json` under `authentication`.",
  ),
  fetch_timeout: says(
    "The issuer's server did not answer in time.",
    "Try again.",
  ),
  feed_stale: says(
    "What is known is older than allowed, and could not be refreshed.",
    "See that the issuer can be reached; `reason` names the code that refreshing failed with.",
  ),
  store_unavailable: says(
    "The store of challenges, the memory of a reader (`--pins`), or the disk below the issuer does not work.",
    "Operator: look at the store that `place` names; `hint` or `system_code` may name the reason.",
  ),
  write_failed: says(
    "The system refused a write; nothing of it is left in the feed.",
    "Mend the disk (space, rights, mount) and append again.",
  ),
  overloaded: says(
    "As many requests as allowed are being answered, are on their way, wait for the same issuer, or are not read by their client; the text says which.",
    "Wait as `Retry-After` says; the operator raises `--max-concurrent`.",
  ),
  request_timeout: says(
    "The request's body did not arrive in time.",
    "Send it faster, or at all.",
  ),
  internal: says(
    "A defect of this software. Nothing about the inside is told.",
    "Report it with the request id (`instance`).",
  ),
};

/** What each category means for the caller. */
export const CATEGORY_TEXTS: Readonly<Record<ErrorCategory, string>> = {
  usage: `You asked wrongly. ${FIX_REQUEST}`,
  invalid: "What an issuer published or a subject signed breaks a rule.",
  refused: "Understood, and refused.",
  not_found: "It is not there.",
  conflict: "It contradicts what is there or what was seen.",
  gone: "It was there, and is over.",
  limit: "Too large, or too often.",
  unavailable: "Something that is needed does not work now; try again.",
  internal: "A defect.",
};
