/** The kinds of records that the login stores, and their limits. @module */

import type { RecordKind } from "@sig/consumer/store";

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
