/** Applications in a session. @module */

import type { Joined, Session } from "./session.ts";

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
export interface AfterJoining {
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
