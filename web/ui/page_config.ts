/** What a page and its server agree on. @module */

/** The file names of an issuer's documents in the page's requests. */
export const DOCUMENT_FILES = {
  metadata: "sig.json",
  jwks: "jwks.json",
  did_document: "did.json",
  feed: "events.jsonl",
} as const;

/** The server's configuration of its page, embedded in the HTML. */
export interface PageConfig {
  /** Issuers to explore, and the base URLs of their documents. */
  readonly issuers: readonly { readonly did: string; readonly base: string }[];
  /** The issuer of the relationship that a sign-in requires, or null. */
  readonly issuer: string | null;
  /** The requirements of a sign-in, or null. */
  readonly require: readonly string[] | null;
  /** The scopes that a sign-in on the page requests. */
  readonly scopes: readonly string[];
  /** The routes of a sign-in. */
  readonly signIn: {
    readonly challengeUrl: string;
    readonly answerUrl: string;
    /** Whether a sign-in returns to `?rd=`, a path of this origin. */
    readonly returns: boolean;
  };
  /** Whether the server lists approved applications at `/oidc/consents`. */
  readonly consents: boolean;
  /** Whether the page shows the demo. */
  readonly demo: boolean;
}
