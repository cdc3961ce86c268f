/** The applications of the bench of complete logins, one for each algorithm. @module */

/** What ID tokens are signed with. */
export const ALGORITHMS = ["RS256", "ES256", "EdDSA"] as const;

/** A host protected by forward auth; the proxy is the bench. */
export const GATE_HOST = "wiki.example";

/** Where codes are sent; nobody listens there. */
export const CALLBACK = "https://app.example/callback";
