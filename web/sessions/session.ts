/** What is kept of somebody who is logged in. @module */

import type { MatchedRelationship } from "../login/relationship.ts";

/** A person in one browser; `S` is what an issuer says of them. */
export interface Session<S = MatchedRelationship> {
  /** Its name, which applications know; no secret. */
  readonly sid: string;
  /** SHA-256 of the cookie's secret, in base64url. */
  readonly secret_sha256: string;
  /** The DID of the key that signed. */
  readonly subject: string;
  /** The person's root (docs/protocol.md §4.1); (default: the subject). */
  readonly person?: string;
  /** Seconds since 1970; when the person last signed. */
  readonly auth_time: number;
  /** Milliseconds since 1970. */
  readonly expires_ms: number;
  /** Where the person logged in, and what was required there. */
  readonly conditions: LoginConditions;
  /** What the issuer said last, as far as that is known. */
  readonly relationship: S;
  /** When the issuer last confirmed it, in milliseconds since 1970. */
  readonly confirmed_ms: number;
  /** The applications that it logged in to, by their ids. */
  readonly clients: { readonly [clientId: string]: SessionClient };
  /** Milliseconds since 1970; it has ended, and its applications are being notified. */
  readonly ended_ms?: number;
}

/** An application in a session. */
export interface SessionClient {
  /** Of this joining alone: what was given to an earlier one is not valid. */
  readonly id: string;
  /** Milliseconds since 1970; when it joined. */
  readonly since_ms: number;
  /** What the person was asked for; nothing at hosts behind forward auth. */
  readonly asked: readonly string[];
  /** What of that the person granted. */
  readonly granted: readonly string[];
  /** Ids of what it was given, the newest last. */
  readonly grants: readonly string[];
  /**
   * SHA-256 of the secrets of its own cookies, the newest last; of hosts behind
   * forward auth.
   */
  readonly secrets_sha256?: readonly string[];
}

/** What applications know a session's person by. */
export function personOfSession(
  { subject, person = subject }: Pick<Session<unknown>, "subject" | "person">,
): string {
  return person;
}

/** An application of a session, if it has joined. */
export function sessionClient(
  { clients }: Pick<Session<unknown>, "clients">,
  clientId: string,
): SessionClient | undefined {
  const joined = Object.hasOwn(clients, clientId)
    ? clients[clientId]
    : undefined;
  // A record of an older version: the person is asked again.
  return joined?.id === undefined ? undefined : joined;
}

/** Tells an application that its session is over. */
export interface LogoutNotification {
  /** The application. */
  readonly client_id: string;
  /** The session. */
  readonly sid: string;
  /** The person's root. */
  readonly subject: string;
  /** The joining that is over, {@linkcode SessionClient.id}. */
  readonly joined: string;
}

/** Where somebody logged in, and what was required there. */
export interface LoginConditions {
  /** The origin that the person signed for. */
  readonly audience: string;
  /** The issuer that was asked, or null. */
  readonly issuer: string | null;
  /** What it had to confirm, `key=value` each. */
  readonly require: readonly string[];
}

/**
 * Whether a login of then is enough for what is required now: the same issuer
 * was asked, and for at least as much. Without an issuer everybody may log in.
 */
export function meetsConditions(
  then: LoginConditions,
  now: LoginConditions,
): boolean {
  if (now.issuer === null) return true;
  return then.issuer === now.issuer &&
    now.require.every((each) => then.require.includes(each));
}
