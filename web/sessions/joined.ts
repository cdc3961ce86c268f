/** Applications in a session. @module */

import type { Joined, Session } from "./session.ts";

/**
 * What one application may have been given in one session. More than that asks
 * for logins over and over; the oldest of it is long replaced.
 */
export const MAX_GRANTS = 16;

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
  /** Ids of what it has too much of: they are to end. */
  readonly fallen: readonly string[];
}

/** Adds an application, or to one that is there what it is given. */
export function addJoined(
  clients: Session["clients"],
  { clientId, grant }: Joining,
  now: Date,
): AfterJoining {
  const joined: Joined = Object.hasOwn(clients, clientId)
    ? clients[clientId]!
    : { since_ms: now.getTime() };
  const grants = [...joined.grants ?? [], grant];
  return {
    clients: {
      ...clients,
      [clientId]: { ...joined, grants: grants.slice(-MAX_GRANTS) },
    },
    fallen: grants.slice(0, -MAX_GRANTS),
  };
}
