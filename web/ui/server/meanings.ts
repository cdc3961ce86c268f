/** What a refusal means, and what to do next. @module */

import {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "../libraries/login.ts";
import type { DenyReason } from "../libraries/mod.ts";

/** What a code comes to. */
export interface Meaning {
  /** What happened. */
  readonly title: string;
  /** What to do now. */
  readonly next: string;
  /** Whether a new request helps. */
  readonly again: boolean;
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  challenge_expired: {
    title: "The request has expired",
    next: "Start again and approve before its time runs out.",
    again: true,
  },
  challenge_used: {
    title: "This request was answered before",
    next: "Each request counts once. Start a new one.",
    again: true,
  },
  challenge_burned: {
    title: "This request was closed after too many wrong answers",
    next:
      "Start a new one. If you didn't send wrong answers, somebody else did.",
    again: true,
  },
  challenge_not_found: {
    title: "The site does not know this request any more",
    next:
      "It is forgotten soon after it expires, or when the server restarts. Start a new one.",
    again: true,
  },
  relationship_denied: {
    title: "The key is yours, but this site does not let you in",
    next:
      "It admits only whom the issuer's feed names. Ask the issuer; this site can't change it.",
    again: true,
  },
  audience_mismatch: {
    title: "The answer is for another site",
    next:
      "Never approve a request on one site that another one made. Start again here.",
    again: true,
  },
  audience_not_allowed: {
    title: "This server does not speak for that site",
    next: "Choose one of the sites that it is configured for.",
    again: false,
  },
  nonce_mismatch: {
    title: "The answer belongs to another request",
    next: "Sign the newest request, or start again.",
    again: true,
  },
  subject_mismatch: {
    title: "The request is for another key",
    next:
      "Answer with the key that it names, or start again without naming one.",
    again: true,
  },
  scope_not_granted: {
    title: "The answer grants more than was asked for",
    next: "Start again and grant only what the request lists.",
    again: true,
  },
  attestation_time_invalid: {
    title: "The answer's times are wrong",
    next: "Check the clock of the device that signed, then start again.",
    again: true,
  },
  attestation_signature_invalid: {
    title: "The signature is not right",
    next:
      "The answer was changed after signing, or another key signed it. Sign again.",
    again: true,
  },
  invalid_attestation: {
    title: "This is not an answer to the request",
    next:
      "Paste all of what sig attest printed: three parts with dots between them.",
    again: false,
  },
  algorithm_not_allowed: {
    title: "The answer is signed in a way that this site refuses",
    next:
      "Only Ed25519 (EdDSA) counts. Sign with sig attest or with this page.",
    again: false,
  },
  typ_mismatch: {
    title: "This token is something else than an answer",
    next: "Paste what sig attest printed.",
    again: false,
  },
  invalid_header: {
    title: "The answer's header is not right",
    next: "Sign with sig attest or with this page.",
    again: false,
  },
  key_unresolvable: {
    title: "The site could not get your public key",
    next:
      "If you sign in with a did:web, check that its did.json is online and lists the key under authentication.",
    again: true,
  },
  rate_limited: {
    title: "Too many requests at once",
    next: "Wait a moment, then try again.",
    again: true,
  },
  overloaded: {
    title: "The server is busy",
    next: "Wait a moment, then try again.",
    again: true,
  },
  store_unavailable: {
    title: "The server can't reach its memory",
    next: "This is no refusal. Try again in a moment.",
    again: true,
  },
  invalid_request: {
    title: "The server does not take this request",
    next: "Look at the values below and correct them.",
    again: false,
  },
  internal: {
    title: "Something broke on the server",
    next: "This is no refusal. Try again; the request id helps its operator.",
    again: true,
  },
  no_answer: {
    title: "The server did not answer",
    next: "Check that it runs and that you are online, then try again.",
    again: true,
  },
};

/** The issuer could not be asked: nothing is known about the person. */
const NOT_ASKED: Meaning = {
  title: "The site could not ask the issuer",
  next: "So it lets nobody in for now. This is no refusal: try again later.",
  again: true,
};

/** It was asked, and can't be believed. */
const NOT_RELIABLE: Meaning = {
  title: "What the issuer publishes can't be relied upon",
  next:
    "It is faulty, or contradicts what it said before. So it lets nobody in. This is no refusal: only the issuer can mend it.",
  again: true,
};

/** What a code that has no meaning of its own says of the issuer, if anything. */
const OF_ISSUER: Readonly<Record<ErrorCategory, Meaning | undefined>> = {
  usage: undefined,
  invalid: NOT_RELIABLE,
  refused: undefined,
  not_found: NOT_ASKED,
  conflict: NOT_RELIABLE,
  gone: undefined,
  limit: NOT_ASKED,
  unavailable: NOT_ASKED,
  internal: undefined,
};

/** Codes whose category says something else of the issuer. */
const EXCEPTIONS: ReadonlyMap<string, Meaning | undefined> = new Map<
  ErrorCode,
  Meaning | undefined
>([
  ["line_too_long", NOT_RELIABLE],
  // About the request or the answer in it.
  ["not_found", undefined],
  ["body_too_large", undefined],
  ["request_timeout", undefined],
  ["invalid_base64url", undefined],
  ["crit_not_supported", undefined],
]);

/**
 * What a code means; what the server said and advises where this page knows
 * nothing better.
 */
export function meaningOf(
  code: string,
  detail: string,
  hint: string,
): Meaning {
  const known = Object.hasOwn(MEANINGS, code) ? MEANINGS[code] : ofIssuer(code);
  return known ?? { title: detail, next: hint, again: true };
}

function ofIssuer(code: string): Meaning | undefined {
  if (EXCEPTIONS.has(code)) return EXCEPTIONS.get(code);
  // A newer server may have a code that this page does not know.
  if (!Object.hasOwn(ERROR_CODES, code)) return undefined;
  const { category } = ERROR_CODES[code as ErrorCode];
  return OF_ISSUER[category];
}

const REASONS: Readonly<Record<DenyReason, string>> = {
  no_relationship: "The feed says nothing about this subject.",
  relationship_type_missing: "No relationship of the subject is of this type.",
  role_missing: "No relationship of the subject has this role.",
  relationship_id_missing: "The subject has no relationship with this id.",
  revoked: "The relationship was revoked.",
  expired: "The relationship has ended.",
  not_yet_valid: "The relationship has not begun yet.",
  requirements_split:
    "Each requirement is met, but no single relationship meets them all.",
};

/** Why an answer is deny, in a sentence. */
export function reasonSentence(code: string): string {
  return Object.hasOwn(REASONS, code) ? REASONS[code as DenyReason] : code;
}
