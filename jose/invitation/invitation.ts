/** Enrolment: who is invited to what (docs/protocol.md §9). @module */

import type { INVITATION_TYP, RelationshipType } from "@sig/core";

/**
 * Characters of an invitation at most: 64 roles of 128 characters fit in, and
 * so does the whole into a link.
 */
export const MAX_INVITATION_LENGTH = 16 * 1024;
/** Seconds that an invitation lives at least. */
export const MIN_INVITATION_SECONDS = 3_600;
/** Seconds that an invitation lives unless told. */
export const DEFAULT_INVITATION_SECONDS = 7 * 86_400;
/** Seconds that an invitation lives at most. */
export const MAX_INVITATION_SECONDS = 90 * 86_400;
/** Characters of the name that an invitation is for. */
export const MAX_INVITED_NAME_LENGTH = 128;

/** What is offered: what the relationship will be. */
export interface InvitationTerms {
  /** What kind of relationship. */
  readonly relationship_type: RelationshipType;
  /** At most 64 of 128 characters, each once. */
  readonly roles: readonly string[];
  /** RFC 3339 UTC: start of validity (inclusive). */
  readonly valid_from?: string;
  /** RFC 3339 UTC: end of validity (exclusive). */
  readonly valid_until?: string;
  /** A name for people, 1 to 128 characters; never published. */
  readonly for?: string;
}

/** The claims of an invitation: these and no others. */
export interface InvitationClaims extends InvitationTerms {
  /** The issuer's DID. */
  readonly iss: string;
  /** 32 random bytes in base64url. */
  readonly jti: string;
  /** Seconds since 1970 at which it was made. */
  readonly iat: number;
  /** Seconds since 1970 from which on it no longer counts: 1 h to 90 d later. */
  readonly exp: number;
}

/** The header of an invitation: exactly these members. */
export interface InvitationHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** Always `sig-invitation+jwt`. */
  readonly typ: typeof INVITATION_TYP;
  /** A key that signs the issuer's events. */
  readonly kid: string;
}

/** An invitation that is well-formed. Its signature may still be anybody's. */
export interface ParsedInvitation {
  /** The compact JWS. */
  readonly text: string;
  /** The header. */
  readonly header: InvitationHeader;
  /** The claims. */
  readonly claims: InvitationClaims;
  /** `exp` as RFC 3339 UTC. */
  readonly expires_at: string;
  /** The signature's bytes, of whatever length. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The bytes that were signed. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}
