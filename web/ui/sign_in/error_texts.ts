/** Problems, requirements and scopes in words for people. @module */

import { type DenyReason, ERROR_CODES, type ErrorCode } from "@sig/core";
import type { Problem } from "../api.ts";
import { hostOf, typeLabel, visibleText } from "../text.ts";

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

/** Returns a text; by default a new request may help. */
export function text(title: string, next: string, canRetry = true): ErrorText {
  return { title, next, canRetry };
}

function open(title: string, next: string): ErrorText {
  return { ...text(title, next), isOpen: true };
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

/** Codes of faults of the request, or of the attestation in it. */
const OF_REQUEST: ReadonlySet<string> = new Set<ErrorCode>([
  ...["not_found", "body_too_large", "request_timeout"] as const,
  ...["invalid_base64url", "crit_not_supported", "typ_mismatch"] as const,
  ...["algorithm_not_allowed", "invalid_header"] as const,
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
  if (code === "line_too_long") return NOT_RELIABLE;
  // A newer server may send codes that this page does not know.
  const isKnown = Object.hasOwn(ERROR_CODES, code) && !OF_REQUEST.has(code);
  switch (isKnown && ERROR_CODES[code as ErrorCode].category) {
    case "invalid":
    case "conflict":
      return NOT_RELIABLE;
    case "not_found":
    case "limit":
    case "unavailable":
      return NOT_REACHED;
    default:
      return text(message, hint);
  }
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

/**
 * Returns requirements in words, such as "employee of acme.example with the
 * role deploy"; undefined if nothing is required.
 */
export function describeRequirements(
  require: unknown,
  issuer: string | null,
): string | undefined {
  const list = [require ?? []].flat()
    .map((each) => typeof each === "string" ? each : visibleText(each));
  if (list.length === 0) return undefined;
  const found = Map.groupBy(
    list,
    (each) => /^(?:relationship|role|relationship_id)(?==)/.exec(each)?.[0],
  );
  const say = (key: string | undefined, before: string) => {
    const texts = found.get(key)?.map((each) =>
      visibleText(key === undefined ? each : each.slice(key.length + 1))
    );
    return texts && before + texts.join(" and ");
  };
  const types = say("relationship", "");
  return [
    types === undefined ? "someone" : typeLabel(types),
    issuer !== null && `of ${hostOf(issuer)}`,
    say("role", `with the role${found.get("role")?.[1] ? "s" : ""} `),
    say("relationship_id", "by the relationship "),
    say(undefined, "and "),
  ].filter(Boolean).join(" ");
}

const SCOPES: ReadonlyMap<string, string> = new Map([
  ["profile", "your name, if the issuer publishes it"],
  ["groups", "your roles with the issuer"],
]);

/** Returns what a scope lets a site do; undefined if it learns something. */
export function permissionLabel(scope: string): string | undefined {
  return scope === "offline_access"
    ? "keep you signed in until you sign out"
    : undefined;
}

/**
 * Returns what a scope lets a site learn; unknown scopes are shown unchanged.
 */
export function scopeLabel(scope: string): string {
  return SCOPES.get(scope) ?? visibleText(scope);
}
