/** The record of a session. @module */

import type { MatchedRelationship } from "../login/relationship.ts";

/** A person's session in one browser; `S` is the type of the relationship. */
export interface Session<S = MatchedRelationship> {
  /** The session id, which applications know; not a secret. */
  readonly sid: string;
  /** SHA-256 of the cookie's secret, in base64url. */
  readonly secret_sha256: string;
  /** The DID of the key that signed. */
  readonly subject: string;
  /**
   * The person's root DID (docs/protocol.md §4.1), by which applications
   * identify the person.
   */
  readonly person: string;
  /** When the person last signed, in seconds since 1970. */
  readonly auth_time: number;
  /** Expiry in milliseconds since 1970. */
  readonly expires_ms: number;
  /** The audience and requirements of the login. */
  readonly conditions: LoginConditions;
  /** The last known relationship. */
  readonly relationship: S;
  /**
   * When the issuer last confirmed the relationship, in milliseconds since
   * 1970.
   */
  readonly confirmed_ms: number;
  /** The applications of the session by client id. */
  readonly clients: { readonly [clientId: string]: SessionClient };
  /**
   * When it ended, in milliseconds since 1970; its applications are being
   * notified.
   */
  readonly ended_ms?: number;
}

/** An application in a session, with the person's consent. */
export interface SessionClient {
  /**
   * The id of this joining; codes and tokens of an earlier joining are invalid.
   */
  readonly id: string;
  /** When it joined, in milliseconds since 1970. */
  readonly since_ms: number;
  /** The requested scopes. */
  readonly asked: readonly string[];
  /** The scopes that the person granted. */
  readonly granted: readonly string[];
}

/** Returns an application of a session; undefined if it has not joined. */
export function sessionClient(
  { clients }: Pick<Session<unknown>, "clients">,
  clientId: string,
): SessionClient | undefined {
  return Object.hasOwn(clients, clientId) ? clients[clientId] : undefined;
}

/** The notification of an application that a session ended. */
export interface LogoutNotification {
  /** The client id of the application. */
  readonly client_id: string;
  /** The session id. */
  readonly sid: string;
  /** The person's root DID. */
  readonly subject: string;
  /** The joining that ended, {@linkcode SessionClient.id}. */
  readonly joined: string;
}

/** The audience and requirements of a login. */
export interface LoginConditions {
  /** The origin that the person signed for. */
  readonly audience: string;
  /** The issuer that confirmed the login; null without requirements. */
  readonly issuer: string | null;
  /** The requirements, `key=value` each. */
  readonly require: readonly string[];
}

/**
 * Whether an earlier login meets the current requirements: it was confirmed by
 * the same issuer with at least the same requirements. Without a current issuer
 * every login does.
 */
export function meetsConditions(
  then: LoginConditions,
  now: LoginConditions,
): boolean {
  if (now.issuer === null) return true;
  return then.issuer === now.issuer &&
    now.require.every((each) => then.require.includes(each));
}
