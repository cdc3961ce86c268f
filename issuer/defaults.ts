/** What is meant where nothing is told. @module */

/** The first key of an issuer. */
export const DEFAULT_KID = "orgsign-1";

/** Milliseconds that a second writer waits. */
export const DEFAULT_LOCK_TIMEOUT_MS = 10_000;
