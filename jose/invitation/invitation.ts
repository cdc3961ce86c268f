/** Parsing and creation of invitations (docs/protocol.md §9). @module */

import {
  compareInstants,
  DEFAULT_LIMITS,
  formatInstant,
  instantOf,
  INVITATION_TYP,
  isDid,
  type OpenObject,
  parseTimestamp,
  RELATIONSHIP_TYPES,
  type RelationshipType,
  SigError,
} from "@sig/core";
import {
  decodeBase64UrlStrict,
  Fields,
  isIdentifier,
  isKid,
  quote,
} from "@sig/core/internal";
import { readCompactJws, requireHeader, signCompactJws } from "../event/jws.ts";
import { encodeBase64Url } from "../bytes/bytes.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/**
 * Maximum length of an invitation in characters; enough for 64 roles of 128
 * characters, and short enough for a link.
 */
export const MAX_INVITATION_LENGTH = 16 * 1024;
/** Minimum validity of an invitation in seconds. */
const MIN_INVITATION_SECONDS = 3_600;
/** Default validity of an invitation in seconds. */
export const DEFAULT_INVITATION_SECONDS = 7 * 86_400;
/** Maximum validity of an invitation in seconds. */
const MAX_INVITATION_SECONDS = 90 * 86_400;
/** Maximum length of the invited person's name in characters. */
const MAX_INVITED_NAME_LENGTH = 128;

/** The terms of the offered relationship. */
export interface InvitationTerms {
  /** The relationship's type, such as `employee`. */
  readonly relationship_type: RelationshipType;
  /** The roles: at most 64, distinct, of at most 128 characters. */
  readonly roles: readonly string[];
  /** Start of validity (inclusive): RFC 3339 UTC. */
  readonly valid_from?: string;
  /** End of validity (exclusive): RFC 3339 UTC. */
  readonly valid_until?: string;
  /** The name of the invited person, 1 to 128 characters; never published. */
  readonly for?: string;
  /**
   * The DID of the person who adds this key. The other members are then only
   * displayed: enrolment uses those of the person (docs/protocol.md §9.3).
   */
  readonly same_person_as?: string;
}

/** The claims of an invitation, without other claims. */
export interface InvitationClaims extends InvitationTerms {
  /** The issuer's DID. */
  readonly iss: string;
  /** An identifier of 32 random bytes in base64url. */
  readonly jti: string;
  /** Time of creation in seconds since 1970. */
  readonly iat: number;
  /** Time of expiry in seconds since 1970, 1 hour to 90 days after `iat`. */
  readonly exp: number;
}

/** The header of an invitation, without other members. */
export interface InvitationHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** Always `sig-invitation+jwt`. */
  readonly typ: typeof INVITATION_TYP;
  /** The kid of a key that signs the issuer's events. */
  readonly kid: string;
}

/** A well-formed invitation. Its signature is not verified yet. */
export interface ParsedInvitation {
  /** The compact JWS. */
  readonly text: string;
  /** The protected header. */
  readonly header: InvitationHeader;
  /** The claims. */
  readonly claims: InvitationClaims;
  /** `exp` as RFC 3339 UTC. */
  readonly expires_at: string;
  /** The decoded signature, of any length. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The signed bytes. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}

/** Size of a `jti` in bytes. */
const JTI_BYTES = 32;
/** 9999-12-31T23:59:59Z, the last instant that RFC 3339 can express. */
const MAX_SECONDS = 253_402_300_799;

/** Creates the error of a malformed invitation; `pointer` names the claim. */
export function malformed(why: string, pointer?: string): SigError {
  return new SigError("invalid_invitation", {
    action: "use invitation",
    reason: why,
    context: pointer === undefined ? {} : { pointer },
  });
}

/**
 * Validates the claims. Unknown claims are rejected, because they may be meant
 * to restrict the offer.
 *
 * @throws {SigError} `invalid_invitation` with `context.pointer`.
 */
function readInvitationClaims(claims: OpenObject): InvitationClaims {
  const fields = new Fields(claims);
  const read: { readonly [C in keyof Required<InvitationClaims>]: unknown } = {
    iss: fields.member("iss", isShortDid, SHORT_DID),
    jti: fields.member("jti", isJti, `${JTI_BYTES} bytes in base64url`),
    iat: fields.member("iat", isSeconds, SECONDS),
    exp: fields.member("exp", isSeconds, SECONDS),
    relationship_type: fields.oneOf("relationship_type", RELATIONSHIP_TYPES),
    roles: fields.member("roles", isRoles, ROLES),
    valid_from: fields.optional("valid_from", isTimestamp, TIMESTAMP),
    valid_until: fields.optional("valid_until", isTimestamp, TIMESTAMP),
    for: fields.optional("for", isName, NAME),
    same_person_as: fields.optional("same_person_as", isShortDid, SHORT_DID),
  };
  const extra = Object.keys(claims).find((name) => !Object.hasOwn(read, name));
  if (extra !== undefined) {
    throw malformed(`it has an unknown claim ${quote(extra)}`);
  }
  const life = Number(read.exp) - Number(read.iat);
  if (life < MIN_INVITATION_SECONDS || life > MAX_INVITATION_SECONDS) {
    fields.report(
      "exp",
      "invalid_field",
      "must be 1 hour to 90 days after iat",
    );
  }
  const start = parseTimestamp(read.valid_from);
  const end = parseTimestamp(read.valid_until);
  if (start && end && compareInstants(end, start) <= 0) {
    fields.report("valid_until", "invalid_field", "must be after valid_from");
  }
  const [issue] = fields.issues;
  if (issue) {
    const { pointer, detail } = issue;
    throw malformed(`claim ${pointer.slice(1)} ${detail}`, pointer);
  }
  // Every required claim is present, because none has an issue.
  const present = Object.entries(read).filter(([, value]) =>
    value !== undefined
  );
  return Object.fromEntries(present) as unknown as InvitationClaims;
}

const { maxIdentifierLength, maxRoles, maxRoleLength } = DEFAULT_LIMITS;
const SHORT_DID = `a DID of at most ${maxIdentifierLength} characters`;
const SECONDS = "whole seconds since 1970";
const TIMESTAMP = "an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z";
const ROLES =
  `at most ${maxRoles} strings, each once and of 1 to ${maxRoleLength} characters without control characters`;
const NAME =
  `1 to ${MAX_INVITED_NAME_LENGTH} characters without control characters`;

function isShortDid(value: unknown): value is string {
  return typeof value === "string" && isDid(value) &&
    value.length <= maxIdentifierLength;
}

function isJti(value: unknown): value is string {
  return typeof value === "string" &&
    decodeBase64UrlStrict(value)?.length === JTI_BYTES;
}

function isSeconds(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 &&
    (value as number) <= MAX_SECONDS;
}

function isRoles(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= maxRoles &&
    value.every((role) => isIdentifier(role) && role.length <= maxRoleLength) &&
    new Set(value).size === value.length;
}

function isTimestamp(value: unknown): value is string {
  return parseTimestamp(value) !== undefined;
}

function isName(value: unknown): value is string {
  return isIdentifier(value) && value.length <= MAX_INVITED_NAME_LENGTH;
}

/** The text before the invitation in a link's fragment. */
const FRAGMENT = "#/invitation/";

/**
 * Returns a link with an invitation. The invitation is after the `#`, which
 * browsers do not send to a server (docs/protocol.md §9).
 *
 * @param page URL of a page that supports invitations.
 *
 * @example
 * ```ts
 * import { invitationLink } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   invitationLink("https://login.acme.example/", "eyJh.eyJp.AAAA"),
 *   "https://login.acme.example/#/invitation/eyJh.eyJp.AAAA",
 * );
 * ```
 *
 * @throws {TypeError} for a page that is not an http or https URL.
 */
export function invitationLink(page: string, invitation: string): string {
  const url = new URL(page);
  if (url.protocol !== "https:" && url.protocol !== "http:") {
    throw new TypeError("Cannot make link: the page must be an https URL");
  }
  url.hash = "";
  return `${url.href}${FRAGMENT}${invitation}`;
}

/** Returns whether a text is a link with an invitation, or its fragment. */
export function isInvitationLink(text: string): boolean {
  return text.includes(FRAGMENT);
}

/**
 * Parses an invitation: the compact JWS, a link that contains it, or the link's
 * fragment as in `location.hash`; surrounding white space is ignored. Every
 * fault of the form has the same code. The signature is not verified: use
 * `verifyInvitation` (docs/protocol.md §9).
 *
 * @example
 * ```ts
 * import { parseInvitation } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertThrows } from "@std/assert";
 *
 * const error = assertThrows(() => parseInvitation("come in"));
 * assert(isSigError(error, "invalid_invitation"));
 * ```
 *
 * @throws {SigError} `invalid_invitation`; `context.pointer` names the claim.
 */
export function parseInvitation(invitation: string): ParsedInvitation {
  const text = textOf(invitation);
  if (text.length > MAX_INVITATION_LENGTH) {
    throw malformed(`it is longer than ${MAX_INVITATION_LENGTH} characters`);
  }
  const jws = readCompactJws(text, malformed);
  const header = requireHeader(jws.header, {
    typ: INVITATION_TYP,
    isKid,
    kid: "1 to 256 characters without control characters",
    fault: (_code, why) => malformed(why),
  });
  const claims = readInvitationClaims(jws.claims);
  return {
    text,
    header,
    claims,
    expires_at: formatInstant({ seconds: claims.exp, nanoseconds: 0 }),
    signature: jws.signature,
    signingInput: jws.signingInput,
  };
}

function textOf(invitation: unknown): string {
  if (typeof invitation !== "string") throw malformed("it must be a string");
  // A text longer than any link is rejected before it is searched.
  if (invitation.length > 2 * MAX_INVITATION_LENGTH) {
    throw malformed(`it is longer than ${MAX_INVITATION_LENGTH} characters`);
  }
  const at = invitation.indexOf(FRAGMENT);
  const text = at < 0 ? invitation : invitation.slice(at + FRAGMENT.length);
  return text.trim();
}

/** Options of {@linkcode createInvitation}. */
export interface CreateInvitationOptions {
  /** The issuer's DID. */
  readonly issuer: string;
  /** The key that signs the issuer's events. */
  readonly key: SigningKey;
  /** The terms of the offered relationship. */
  readonly terms: InvitationTerms;
  /** Validity in seconds: 3,600 to 7,776,000 (default: 604,800, 7 days). */
  readonly ttlSeconds?: number;
  /** Returns the current time. */
  readonly now: () => Date;
}

/**
 * Creates an invitation: a signed text that its first holder can answer once,
 * so give it to the invited person only. Nothing is stored (docs/protocol.md
 * §9).
 *
 * @example From the invitation to the verified answer
 * ```ts
 * import {
 *   answerInvitation,
 *   createInvitation,
 *   createKeyResolver,
 *   generateSigningKey,
 *   importSigningKey,
 *   jwkToDidKey,
 *   verifyAnswer,
 *   verifyInvitation,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const now = () => new Date("2026-01-31T09:00:00Z");
 * const issuer = "did:web:acme.example";
 *
 * // The issuer:
 * const orgKey = await importSigningKey(
 *   await generateSigningKey({ kid: "orgsign-1" }),
 * );
 * const terms = { relationship_type: "employee", roles: ["deploy"] } as const;
 * const { text } = await createInvitation({ issuer, key: orgKey, terms, now });
 *
 * // The person, with the keys that the issuer publishes:
 * const keys = await createKeyResolver({ keys: [orgKey.publicJwk] });
 * const invitation = await verifyInvitation(text, { issuer, keys, now });
 * assertEquals(invitation.expires_at, "2026-02-07T09:00:00Z");
 * const key = await importSigningKey(await generateSigningKey());
 * const answer = await answerInvitation({ invitation, key, now });
 *
 * // The issuer again:
 * const { subject } = await verifyAnswer(answer, { issuer, keys, now });
 * assertEquals(subject, jwkToDidKey(key.publicJwk));
 * ```
 *
 * @throws {SigError} `invalid_invitation` for invalid terms, with
 * `context.pointer`; also if it would be longer than 16 KiB.
 */
export async function createInvitation(
  options: CreateInvitationOptions,
): Promise<ParsedInvitation> {
  const { issuer, key, terms } = options;
  const iat = instantOf(options.now()).seconds;
  const claims = readInvitationClaims({
    iss: issuer,
    jti: encodeBase64Url(crypto.getRandomValues(new Uint8Array(32))),
    iat,
    exp: iat + (options.ttlSeconds ?? DEFAULT_INVITATION_SECONDS),
    relationship_type: terms.relationship_type,
    roles: terms.roles,
    valid_from: terms.valid_from,
    valid_until: terms.valid_until,
    for: terms.for,
    same_person_as: terms.same_person_as,
  });
  const header = { alg: "EdDSA", typ: INVITATION_TYP, kid: key.kid };
  return parseInvitation(await signCompactJws(header, claims, key));
}
