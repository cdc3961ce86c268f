/** Verifying documents in the browser, by the libraries' own code. @module */

import {
  reportIssuer,
  type VerifiedEvent,
  type VerifyReport,
} from "@sig/consumer";
import { type FeedState, isSigError, replay } from "@sig/core";
import { hasEd25519 } from "../../browser/ed25519_support.ts";
import {
  type Documents,
  DocumentsError,
  nextTask,
  readerOf,
} from "./documents.ts";

/** A feed that was verified. */
export interface VerifiedDocuments {
  readonly report: VerifyReport;
  /** In the feed's order. */
  readonly events: readonly VerifiedEvent[];
  /** Undefined when the feed is not valid. */
  readonly state: FeedState | undefined;
}

/** A valid feed that is open in the explorer. */
export interface OpenFeed {
  readonly state: FeedState;
  readonly events: readonly VerifiedEvent[];
  /** When it was read: statuses are of that time. */
  readonly now: Date;
  /** For `sig check --sig`. */
  readonly source: string;
  /** Which of the server's issuers it is, if it is one. */
  readonly issuer: number | undefined;
}

/**
 * Verifies documents, and replays the feed if it is valid.
 *
 * @throws {DocumentsError} When it is unknown whether the feed is valid.
 */
export async function verifyDocuments(
  documents: Documents,
  { issuer, onProgress, signal }: {
    /** The DID that the documents must be of, where it is known. */
    readonly issuer?: string | undefined;
    /** Gets the part that is verified, from 0 to 1. */
    readonly onProgress?: (share: number) => void;
    readonly signal?: AbortSignal;
  } = {},
): Promise<VerifiedDocuments> {
  if (!await hasEd25519()) {
    throw new DocumentsError(
      "This browser can't verify Ed25519 signatures. A newer version can.",
    );
  }
  const events: VerifiedEvent[] = [];
  let report: VerifyReport;
  try {
    report = await reportIssuer({
      reader: readerOf(documents, (share) => {
        signal?.throwIfAborted();
        onProgress?.(share);
      }),
      metadataRef: "/.well-known/sig.json",
      expectedIssuer: issuer,
    }, { now: new Date(), onEvent: (event) => void events.push(event) });
  } catch (error) {
    signal?.throwIfAborted();
    throw new DocumentsError(
      isSigError(error)
        ? error.message
        : "Something went wrong in this browser. Try again.",
    );
  }
  if (!report.valid) return { report, events, state: undefined };
  await nextTask();
  const { state } = replay(events.map(({ event }) => event), {
    issuer: report.issuer,
  });
  await nextTask();
  return { report, events, state };
}
