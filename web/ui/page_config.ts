/** What a server tells its page. @module */

/** What the page learns about its server; it is written into the HTML. */
export interface PageConfig {
  /** Issuers to explore, and where their documents are served. */
  readonly issuers: readonly { readonly did: string; readonly base: string }[];
  /** The issuer of the relationship that a sign-in needs, or null. */
  readonly issuer: string | null;
  /** What a sign-in needs, or null. */
  readonly require: readonly string[] | null;
  /** What a sign-in on the page asks to learn. */
  readonly scopes: readonly string[];
  /** Where sign-ins begin and end. */
  readonly signIn: {
    readonly challengeUrl: string;
    readonly answerUrl: string;
    /** Whether a sign-in leads back to `?rd=`, a place of this origin. */
    readonly returns: boolean;
  };
  /** Whether the server lists what was approved, at `/oidc/consents`. */
  readonly consents: boolean;
  /** Whether the page plays the demo. */
  readonly demo: boolean;
}
