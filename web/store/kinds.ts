/** Every kind of record that the login keeps, and its limits. @module */

import type { RecordKind } from "@sig/consumer/store";

const MIB = 1024 ** 2;

/** Challenges that strangers ask for; used ones count until they are forgotten. */
export const CHALLENGE: RecordKind = {
  name: "challenge",
  maxRecords: 100_000,
  maxBytes: 64 * MIB,
};
/** Challenges of sign-ins on our own pages: a flood of the others leaves them. */
export const PAGE_CHALLENGE: RecordKind = {
  name: "page_challenge",
  maxRecords: 100_000,
  maxBytes: 64 * MIB,
};
/** People who are signed in. */
export const SESSION: RecordKind = { name: "session", maxRecords: 200_000 };
/** Codes, access tokens and refresh tokens of a sign-in at a client. */
export const GRANT: RecordKind = { name: "grant", maxRecords: 400_000 };
/** Ids of assertions that clients have used. */
export const ASSERTION: RecordKind = {
  name: "assertion",
  maxRecords: 100_000,
};
/** Codes on their way to hosts behind forward auth. */
export const GATE_CODE: RecordKind = { name: "gate", maxRecords: 100_000 };
/** Logout tokens on their way. */
export const LOGOUT: RecordKind = { name: "logout", maxRecords: 200_000 };
