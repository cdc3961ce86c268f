/** Who is logged in, as applications see it. @module */

import type { MatchedRelationship } from "../login/relationship.ts";

/** Who is logged in. */
export interface SigSession {
  /** The person's DID. */
  readonly subject: string;
  /** What the issuer says of them; null where `sigLogin` requires nothing. */
  readonly relationship: MatchedRelationship | null;
  /** RFC 3339 UTC; when the person signed. */
  readonly signedInAt: string;
}

/** What `sigLogin` gives to the handlers of a Hono application. */
export interface SigEnv {
  /** Read by `c.get("sig")`. */
  Variables: {
    /** Undefined: nobody is logged in. */
    sig: SigSession | undefined;
  };
}
