/** What a refresh is told. @module */

import type { Limits } from "@sig/core";
import type { FeedAllowance } from "./feed_allowance.ts";
import type { LoadIssuerOptions } from "../verify/load_issuer.ts";
import type { SignatureWorkers } from "../verify/signature_workers.ts";
import type { StagedFeed } from "../pins/staged_feed.ts";
import type { FeedDigest } from "../verify/feed_digest.ts";
import type { FeedPolicy, VerifiedEvent } from "../verify/verified_feed.ts";

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
  /** Told of each event that is verified, in order. */
  readonly onEvent?: ((verified: VerifiedEvent) => void) | undefined;
  /** Told how many bytes of how many were read, where the server tells that. */
  readonly onProgress?:
    | ((bytes: number, totalBytes: number | undefined) => void)
    | undefined;
  /** Size limits of a feed that is read anew; `limits` unless told. */
  readonly anewLimits?: Limits | undefined;
  /** Makes digests that can be put aside. */
  readonly createDigest?: (() => FeedDigest) | undefined;
  /** Takes what a feed says that is read anew, so that this process need not. */
  readonly staged?: StagedFeed | undefined;
}
