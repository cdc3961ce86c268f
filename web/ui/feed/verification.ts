/** What page and worker say to each other about a feed. @module */

import type { VerifiedEvent, VerifyReport } from "../libraries/mod.ts";
import type { Documents } from "./documents.ts";

/** What the worker is given, once. */
export interface VerificationOrder {
  readonly documents: Documents;
  /** The DID that the documents must be of, where it is known. */
  readonly expectedIssuer?: string;
}

/** What it answers: progress as often as it likes, then one of the others. */
export type VerificationNews =
  | { readonly kind: "progress"; readonly share: number }
  | {
    readonly kind: "done";
    readonly report: VerifyReport;
    readonly events: readonly VerifiedEvent[];
  }
  | {
    /** It is not known whether the feed is valid. */
    readonly kind: "failed";
    /** Why, in a sentence for people. */
    readonly why: string;
  };
