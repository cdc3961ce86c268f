/** A login challenge as it is sent (PROTOCOL §7). @module */

/** Seconds that a challenge lives unless told. */
export const DEFAULT_TTL_SECONDS = 300;

/** What a site asks a person to answer. */
export interface Challenge {
  /** Unguessable; comes back as `jti`. */
  readonly challenge_id: string;
  /** Who asks: an origin, or a DID; comes back as `aud`. */
  readonly audience: string;
  /** 32 random bytes in base64url; comes back as `nonce`. */
  readonly nonce: string;
  /** What may be granted, sorted; at most 32 RFC 6749 scope tokens. */
  readonly scopes: readonly string[];
  /** The only DID that may answer, or null for anyone. */
  readonly subject: string | null;
  /** What the subject's relationship must meet, or null for nothing. */
  readonly require: readonly string[] | null;
  /** RFC 3339 UTC. */
  readonly issued_at: string;
  /** RFC 3339 UTC; from this instant on it can't be answered. */
  readonly expires_at: string;
  /** The same for people, to be shown before they agree. */
  readonly message: string;
}
