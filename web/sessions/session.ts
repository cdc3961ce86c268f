/** What is kept of somebody who is logged in. @module */

import type { MatchedRelationship } from "../login/relationship.ts";
import type { Terms } from "./terms.ts";

/** A person in one browser; `S` is what an issuer says of them. */
export interface Session<S = MatchedRelationship> {
  /** Its name, which applications know; no secret. */
  readonly sid: string;
  /** SHA-256 of the cookie's secret, in base64url. */
  readonly secret_sha256: string;
  /** The person's DID. */
  readonly subject: string;
  /** Seconds since 1970; when the person last signed. */
  readonly auth_time: number;
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
  /** Where the person logged in, and by whose word; absent in none of now. */
  readonly terms?: Terms;
  /** What the issuer said last, as far as that is known. */
  readonly standing: S;
  /** When the issuer last confirmed it, in milliseconds since 1970. */
  readonly confirmed_ms: number;
  /** What the person was asked for, and did not grant since. */
  readonly withheld?: readonly string[];
  /** The applications that it logged in to. */
  readonly clients: { readonly [clientId: string]: Joined };
  /** It is over; what follows of that is being done. */
  readonly ended?: true;
}

/** An application in a session. */
export interface Joined {
  /** Milliseconds since 1970. What it was given before is good for nothing. */
  readonly since_ms: number;
  /**
   * SHA-256 of the secrets of its own cookies, the newest last; for applications
   * that a proxy asks for.
   */
  readonly secrets_sha256?: readonly string[];
  /** Ids of what it was given, the newest last. */
  readonly grants?: readonly string[];
}

/** An application that must be told that its session is over. */
export interface Farewell {
  /** The application. */
  readonly client_id: string;
  /** The session. */
  readonly sid: string;
  /** The person's DID. */
  readonly subject: string;
  /** When it joined, in milliseconds since 1970. */
  readonly since_ms: number;
}
