/** What a refresh is told. @module */

import type { FeedAllowance } from "./feed_allowance.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { SignatureWorkers } from "../verify/signature_workers.ts";
import type { FeedPolicy } from "../verify/verified_feed.ts";

/** Options of `refreshIssuer`. */
export interface RefreshOptions extends FeedPolicy, LoadIssuerOptions {
  /** The clock when the refresh began. */
  readonly now: Date;
  /** Look for all faults, up to 100, instead of the first. */
  readonly report: boolean;
  /** As in `verifyFeed`. */
  readonly breathe?: (() => Promise<void>) | undefined;
  /** As in `verifyFeed`; shared by all issuers of a consumer. */
  readonly workers?: SignatureWorkers | undefined;
  /** Bounds what is read; undefined for issuers that somebody vouches for. */
  readonly allowance?: FeedAllowance | undefined;
}
