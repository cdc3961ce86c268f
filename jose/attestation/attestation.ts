/** Login: what is asked and what is answered (docs/protocol.md §7). @module */

import type { ATTESTATION_TYP } from "@sig/core";

/**
 * Characters of an attestation at most. An honest one has about 700, and
 * nothing longer is worth decoding before anything about it is known.
 */
export const MAX_ATTESTATION_LENGTH = 8 * 1024;

/**
 * The scope of an answer to an invitation (docs/protocol.md §9): no login challenge of
 * a DID may have it.
 */
export const ENROL_SCOPE = "enrol";

/** The part of a challenge that an attestation answers. */
export interface AttestationChallenge {
  /** Comes back as `jti`. */
  readonly challenge_id: string;
  /** The origin or DID that asks; comes back as `aud`. */
  readonly audience: string;
  /** Comes back as `nonce`. */
  readonly nonce: string;
  /** What may be granted: RFC 6749 scope tokens. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; null or absent: anyone. */
  readonly subject?: string | null;
  /** RFC 3339 UTC; the attestation's `exp` is not later. */
  readonly expires_at: string;
}

/** A challenge as the signer gets it: with the text for people. */
export interface SignableChallenge extends AttestationChallenge {
  /** RFC 3339 UTC; `expires_at` lies 30 to 900 s after it. */
  readonly issued_at: string;
  /** What the subject's relationship must meet; null or absent: nothing. */
  readonly require?: readonly string[] | null;
  /** What `describeChallenge` makes of the other members, or absent. */
  readonly message?: string;
}

/** The header of an attestation: exactly these members. */
export interface AttestationHeader {
  /** Always `EdDSA`. */
  readonly alg: "EdDSA";
  /** Always `sig-attestation+jwt`. */
  readonly typ: typeof ATTESTATION_TYP;
  /** The subject's key: `did:key:z…#z…`, or `did:web:…#<kid>`. */
  readonly kid: string;
}

/** The claims of an attestation; others are ignored. */
export interface AttestationClaims {
  /** The subject's DID. */
  readonly iss: string;
  /** The subject's DID again. */
  readonly sub: string;
  /** Whom it is for: the challenge's audience. */
  readonly aud: string;
  /** The challenge's nonce. */
  readonly nonce: string;
  /** The challenge's id. */
  readonly jti: string;
  /** Seconds since 1970 at which it was made. */
  readonly iat: number;
  /** Seconds since 1970 from which on it no longer counts. */
  readonly exp: number;
  /** What is granted, separated by spaces. */
  readonly scope?: string;
}

/** An attestation that is well-formed. Nothing is verified yet. */
export interface ParsedAttestation {
  /** The header. */
  readonly header: AttestationHeader;
  /** The claims. */
  readonly claims: AttestationClaims;
  /** The DID of `kid`: who signed it, once the signature is verified. */
  readonly subject: string;
  /** The tokens of `scope`, sorted, each once. */
  readonly scopes: readonly string[];
  /** The signature's bytes, of whatever length. */
  readonly signature: Uint8Array<ArrayBuffer>;
  /** The bytes that were signed. */
  readonly signingInput: Uint8Array<ArrayBuffer>;
}
