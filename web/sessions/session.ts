/** What is kept of somebody who is logged in. @module */

import type { MatchedRelationship } from "../login/relationship.ts";

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
  readonly terms?: LoginConditions;
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

/** Tells an application that its session is over. */
export interface LogoutNotification {
  /** The application. */
  readonly client_id: string;
  /** The session. */
  readonly sid: string;
  /** The person's DID. */
  readonly subject: string;
  /** When it joined, in milliseconds since 1970. */
  readonly since_ms: number;
}

/** Where somebody logged in, and what was required there. */
export interface LoginConditions {
  /** The origin that the person signed for. */
  readonly audience: string;
  /** The issuer whose word was needed, or null. */
  readonly issuer: string | null;
  /** What it had to say, `key=value` each. */
  readonly require: readonly string[];
}

/**
 * Whether a login of then is enough for what is required now: it was by the
 * word of the same issuer, and at least as much was asked. Somebody who asks for
 * no more than the subject takes everybody.
 */
export function meetsConditions(
  then: LoginConditions,
  now: LoginConditions,
): boolean {
  if (now.issuer === null) return true;
  return then.issuer === now.issuer &&
    now.require.every((each) => then.require.includes(each));
}

/**
 * What one application may have been given in one session. More than that asks
 * for logins over and over; the oldest of it is long replaced.
 */
export const MAX_GRANTS = 16;

/**
 * What all applications of one session may have been given. A session is one
 * record, and one that no store takes any more could not even be ended.
 */
export const MAX_SESSION_GRANTS = 512;

/** An application that joins a session. */
export interface Joining {
  /** Its id. */
  readonly clientId: string;
  /** The id of what it is given. */
  readonly grant: string;
}

/** The applications of a session after one of them has joined. */
interface AfterJoining {
  /** All of them. */
  readonly clients: Session["clients"];
  /** Ids of what there is too much of: they are to end. */
  readonly fallen: readonly string[];
}

/**
 * Adds an application, or to one that is there what it is given. Where all
 * together have too much, who has the most loses the oldest; nobody loses the
 * only one.
 */
export function addJoined(
  clients: Session["clients"],
  { clientId, grant }: Joining,
  now: Date,
): AfterJoining {
  const joined: Joined = Object.hasOwn(clients, clientId)
    ? clients[clientId]!
    : { since_ms: now.getTime() };
  const grants = [...joined.grants ?? [], grant];
  const added = {
    ...clients,
    [clientId]: { ...joined, grants: grants.slice(-MAX_GRANTS) },
  };
  const fallen = grants.slice(0, -MAX_GRANTS);
  const each = Object.entries(added);
  let total = each.reduce((sum, [, { grants = [] }]) => sum + grants.length, 0);
  while (total > MAX_SESSION_GRANTS) {
    const [id, most] = each.reduce((a, b) => countOf(b) > countOf(a) ? b : a);
    if (countOf([id, most]) < 2) break;
    const [oldest, ...rest] = most.grants ?? [];
    if (oldest !== undefined) fallen.push(oldest);
    const left = { ...most, grants: rest };
    each[each.findIndex(([other]) => other === id)] = [id, left];
    total--;
  }
  return { clients: Object.fromEntries(each), fallen };
}

function countOf([, { grants = [] }]: readonly [string, Joined]): number {
  return grants.length;
}
