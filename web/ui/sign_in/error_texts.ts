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

/**
 * Reads texts by their code from a table with two lines for each: the code and
 * the title, and what to do next. The title follows `*` if nobody was refused,
 * and `!` if the same again can't help.
 */
export function readTexts(table: string): ReadonlyMap<string, ErrorText> {
  return new Map(Array.from(
    table.matchAll(/^(\w+) ([*!]?)(.+)\n +(.+)$/gm),
    ([, code = "", mark, title = "", next = ""]) => [
      code,
      { title, next, isOpen: mark === "*", canRetry: mark !== "!" },
    ],
  ));
}

/** Replaces each `{name}` in a text by its value. */
export function fill(
  text: string,
  values: Readonly<Record<string, unknown>>,
): string {
  return text.replace(/\{(\w+)\}/g, (_, name) => `${values[name]}`);
}

/**
 * The texts by code; the last two are about an issuer that gave no answer, and
 * one whose documents are invalid.
 */
const TEXTS = readTexts(`
challenge_expired *The request has expired
  Start again and approve before the time runs out.
challenge_used *This request was answered before
  Each request can be answered once. Start a new one.
challenge_burned *This request was closed after too many wrong answers
  Start a new one. If you did not send wrong answers, somebody else did.
challenge_not_found *The site does not know this request
  Requests are deleted soon after they expire, or when the server restarts. Start a new one.
audience_mismatch The answer is for another site
  Never approve on one site what another site requests. Start again here.
nonce_mismatch The answer belongs to another request
  Sign the newest request, or start again.
subject_mismatch The request is for another key
  Answer with the key that it names, or start again.
scope_not_granted The answer grants more than was requested
  Start again and grant only what the request lists.
attestation_time_invalid The answer's times are wrong
  Check the clock of the device that signed, then start again.
attestation_signature_invalid The signature is wrong
  The answer was changed after signing, or another key signed it. Sign again.
invalid_attestation !This is not an answer to the request
  Paste the whole output of sig attest: three parts with dots between them.
key_unresolvable *The site could not get your public key
  If you sign in with a did:web, check that its did.json is online and lists the key under authentication.
rate_limited *Too many requests
  Wait a moment, then try again.
overloaded *The server is busy
  Wait a moment, then try again.
store_unavailable *This site's storage does not answer
  You were not refused. Try again in a moment.
invalid_request !The server does not accept this request
  Correct the values below.
internal *This site failed
  You were not refused. Try again; the request id in the details helps its operator.
no_answer *This site does not answer
  You were not refused. Check that you are online, then try again.
unreachable *{issuer} does not answer
  So this site can't check whether you may sign in, and admits nobody until it can. You were not refused: try again in a few minutes.
unreliable *What {issuer} publishes is not valid
  It has errors or contradicts earlier data, so the site lets nobody in. You were not refused: only the issuer can fix it.
`);

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
export function explainError(
  { code, message: title, hint: next }: Problem,
  issuer: string,
): ErrorText {
  const text = TEXTS.get(code) ?? TEXTS.get(aboutIssuer(code));
  if (text === undefined) return { title, next, canRetry: true };
  const filled = fill(text.title, { issuer });
  return { ...text, title: filled.charAt(0).toUpperCase() + filled.slice(1) };
}

/** Returns the name of the text about the issuer, or "". */
function aboutIssuer(code: string): string {
  if (code === "line_too_long") return "unreliable";
  // A newer server may send codes that this page does not know.
  if (!Object.hasOwn(ERROR_CODES, code) || OF_REQUEST.has(code)) return "";
  switch (ERROR_CODES[code as ErrorCode].category) {
    case "invalid":
    case "conflict":
      return "unreliable";
    case "not_found":
    case "limit":
    case "unavailable":
      return "unreachable";
    default:
      return "";
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
