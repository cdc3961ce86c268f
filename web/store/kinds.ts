/** The kinds of records that the login stores, and their limits. @module */

import type { RecordKind } from "@sig/consumer/store";
import { nodeCrypto } from "./digest.ts";

const MIB = 1024 ** 2;

/** Challenges of the open endpoint; used ones count until they are removed. */
export const CHALLENGE: RecordKind = {
  name: "challenge",
  maxRecords: 100_000,
  maxBytes: 64 * MIB,
};
/**
 * Challenges of sign-ins on the server's own pages, with a separate limit so
 * that a flood of the open endpoint does not affect them.
 */
export const PAGE_CHALLENGE: RecordKind = {
  name: "page_challenge",
  maxRecords: 100_000,
  maxBytes: 64 * MIB,
};
/** Sessions of people who are signed in. */
export const SESSION: RecordKind = { name: "session", maxRecords: 200_000 };
/** Codes, access tokens and refresh tokens of a sign-in at a client. */
export const GRANT: RecordKind = { name: "grant", maxRecords: 400_000 };
/** Unused codes for hosts behind forward auth. */
export const GATE_CODE: RecordKind = { name: "gate", maxRecords: 100_000 };

/** Ids of assertions that an application has used. */
export function assertionKind(clientId: string): RecordKind {
  return kindOfClient("assertion", clientId);
}

/** Notifications that wait for an application. */
export function logoutKind(clientId: string): RecordKind {
  return kindOfClient("logout", clientId);
}

/**
 * Returns an application's own kind, so that it can't use up the records of
 * others. The name of a kind may only have letters.
 */
function kindOfClient(name: string, clientId: string): RecordKind {
  const digest = nodeCrypto().createHash("sha256").update(clientId)
    .digest("hex").slice(0, 32);
  const letters = digest.replace(/\d/g, (digit) => "ghijklmnop"[+digit]!);
  return { name: `${name}_${letters}`, maxRecords: 100_000 };
}
