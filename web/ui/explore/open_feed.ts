/** A feed that is valid and open in the explorer. @module */

import type { FeedState, VerifiedEvent } from "../libraries/mod.ts";

/** What the tabs are given. */
export interface OpenFeed {
  readonly state: FeedState;
  readonly events: readonly VerifiedEvent[];
  /** When it was verified: rows are as of then. */
  readonly now: Date;
  /** What `sig check --sig` is given. */
  readonly source: string;
  /** Which of the server's issuers it is; undefined for documents of one's own. */
  readonly issuer: number | undefined;
}
