/** Verifying documents in the browser, by the libraries' own code. @module */

import {
  reportIssuer,
  type VerifiedEvent,
  type VerifyReport,
} from "@sig/consumer";
import { type FeedState, isSigError, Replay } from "@sig/core";
import { hasEd25519 } from "../../browser/key_store.ts";
import {
  type Documents,
  DocumentsError,
  nextTask,
  readerOf,
  requireDocuments,
} from "./documents.ts";

/** Documents that were read whole. */
export interface VerifiedDocuments {
  readonly report: VerifyReport;
  /** In the feed's order. */
  readonly events: readonly VerifiedEvent[];
  /** Undefined when the feed is not valid. */
  readonly state: FeedState | undefined;
  /** When that was: statuses are of that time. */
  readonly now: Date;
}

/** A valid feed that is open in the explorer. */
export interface OpenFeed extends VerifiedDocuments {
  readonly state: FeedState;
  /** For `sig check --sig`. */
  readonly source: string;
  /** Which of the server's issuers it is, if it is one. */
  readonly issuer: number | undefined;
}

/** Events that are replayed at once; then the page may draw. */
const SLICE = 1_000;

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
  requireDocuments(documents, ["metadata", "jwks", "feed"]);
  const now = new Date();
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
    }, { now, onEvent: (event) => void events.push(event) });
  } catch (error) {
    signal?.throwIfAborted();
    if (isSigError(error)) throw new DocumentsError(error.message);
    throw error;
  }
  if (!report.valid) return { report, events, state: undefined, now };
  const replay = new Replay({ issuer: report.issuer });
  for (const [i, { event }] of events.entries()) {
    if (i % SLICE === 0) await nextTask();
    replay.apply(event);
  }
  await nextTask();
  return { report, events, state: replay.state(), now };
}
