/** Texts that explain the codes of problems to people. @module */

import {
  type DenyReason,
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "@sig/core";
import type { Problem } from "../api.ts";

/** The text about a problem. */
export interface ErrorText {
  readonly title: string;
  /** What to do next. */
  readonly next: string;
  /** Whether a new request may help. */
  readonly canRetry: boolean;
  /**
   * Whether nobody was refused: the time ran out, the request was used, or
   * somebody did not answer. It is shown as a clock in amber.
   */
  readonly isOpen?: boolean;
}

function text(title: string, next: string, canRetry = true): ErrorText {
  return { title, next, canRetry };
}

function open(title: string, next: string): ErrorText {
  return { title, next, canRetry: true, isOpen: true };
}

const TEXTS: Readonly<Record<string, ErrorText>> = {
  challenge_expired: open(
    "The request has expired",
    "Start again and approve before the time runs out.",
  ),
  challenge_used: open(
    "This request was answered before",
    "Each request can be answered once. Start a new one.",
  ),
  challenge_burned: open(
    "This request was closed after too many wrong answers",
    "Start a new one. If you did not send wrong answers, somebody else did.",
  ),
  challenge_not_found: open(
    "The site does not know this request",
    "Requests are deleted soon after they expire, or when the server restarts. Start a new one.",
  ),
  audience_mismatch: text(
    "The answer is for another site",
    "Never approve on one site what another site requests. Start again here.",
  ),
  nonce_mismatch: text(
    "The answer belongs to another request",
    "Sign the newest request, or start again.",
  ),
  subject_mismatch: text(
    "The request is for another key",
    "Answer with the key that it names, or start again.",
  ),
  scope_not_granted: text(
    "The answer grants more than was requested",
    "Start again and grant only what the request lists.",
  ),
  attestation_time_invalid: text(
    "The answer's times are wrong",
    "Check the clock of the device that signed, then start again.",
  ),
  attestation_signature_invalid: text(
    "The signature is wrong",
    "The answer was changed after signing, or another key signed it. Sign again.",
  ),
  invalid_attestation: text(
    "This is not an answer to the request",
    "Paste the whole output of sig attest: three parts with dots between them.",
    false,
  ),
  key_unresolvable: open(
    "The site could not get your public key",
    "If you sign in with a did:web, check that its did.json is online and lists the key under authentication.",
  ),
  rate_limited: open("Too many requests", "Wait a moment, then try again."),
  overloaded: open("The server is busy", "Wait a moment, then try again."),
  store_unavailable: open(
    "This site's storage does not answer",
    "You were not refused. Try again in a moment.",
  ),
  invalid_request: text(
    "The server does not accept this request",
    "Correct the values below.",
    false,
  ),
  internal: open(
    "This site failed",
    "You were not refused. Try again; the request id in the details helps its operator.",
  ),
  no_answer: open(
    "This site does not answer",
    "You were not refused. Check that you are online, then try again.",
  ),
};

/** The issuer gave no answer: nothing is known about the person. */
const NOT_REACHED = open(
  "ISSUER does not answer",
  "So this site can't check whether you may sign in, and admits nobody until it can. You were not refused: try again in a few minutes.",
);

/** The issuer answered, but its documents are invalid. */
const NOT_RELIABLE = open(
  "What ISSUER publishes is not valid",
  "It has errors or contradicts earlier data, so the site lets nobody in. You were not refused: only the issuer can fix it.",
);

/** The text about the issuer by the category of a code. */
const BY_CATEGORY: Partial<Record<ErrorCategory, ErrorText>> = {
  invalid: NOT_RELIABLE,
  not_found: NOT_REACHED,
  conflict: NOT_RELIABLE,
  limit: NOT_REACHED,
  unavailable: NOT_REACHED,
};

/** Codes for which the text of their category is wrong. */
const EXCEPTIONS: ReadonlyMap<string, ErrorText | undefined> = new Map<
  ErrorCode,
  ErrorText | undefined
>([
  ["line_too_long", NOT_RELIABLE],
  // Errors of the request, or of the attestation in it.
  ["not_found", undefined],
  ["body_too_large", undefined],
  ["request_timeout", undefined],
  ["invalid_base64url", undefined],
  ["crit_not_supported", undefined],
  ["algorithm_not_allowed", undefined],
  ["typ_mismatch", undefined],
  ["invalid_header", undefined],
]);

/**
 * Returns the text for a problem; the server's own text if there is none.
 *
 * @param issuer The issuer whose relationship a sign-in requires, for people.
 */
export function explainError(problem: Problem, issuer: string): ErrorText {
  const found = findText(problem);
  const capital = issuer.charAt(0).toUpperCase() + issuer.slice(1);
  const title = found.title.replace(/^ISSUER/, () => capital)
    .replace("ISSUER", () => issuer);
  return { ...found, title };
}

function findText({ code, message, hint }: Problem): ErrorText {
  if (Object.hasOwn(TEXTS, code)) return TEXTS[code]!;
  // A newer server may send codes that this page does not know.
  const known = EXCEPTIONS.has(code) || !Object.hasOwn(ERROR_CODES, code)
    ? EXCEPTIONS.get(code)
    : BY_CATEGORY[ERROR_CODES[code as ErrorCode].category];
  return known ?? text(message, hint);
}

const REASONS: Readonly<Record<DenyReason, string>> = {
  no_relationship: "The feed has no relationship of this subject.",
  relationship_type_missing: "The subject has no relationship of this type.",
  role_missing: "No relationship of the subject has this role.",
  relationship_id_missing: "The subject has no relationship with this id.",
  revoked: "The relationship was revoked.",
  expired: "The relationship has expired.",
  not_yet_valid: "The relationship is not valid yet.",
  requirements_split:
    "Each requirement is met, but no single relationship meets all of them.",
};

/** Returns the sentence for a reason of a deny. */
export function denyReasonText(code: unknown): string {
  const name = String(code);
  return Object.hasOwn(REASONS, name) ? REASONS[name as DenyReason] : name;
}
