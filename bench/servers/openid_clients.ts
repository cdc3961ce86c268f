/**
 * The applications of the bench of complete logins, one for each algorithm.
 *
 * @module
 */

/** The algorithms that sign ID tokens. */
export const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** A host protected by forward auth; the bench acts as its proxy. */
export const GATE_HOST = "wiki.example";

/** The redirect URI for codes; no server listens there. */
export const CALLBACK = "https://app.example/callback";
