/** Verifies documents in the browser with the code of the libraries. @module */

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

/** Verified documents. */
export interface VerifiedDocuments {
  readonly report: VerifyReport;
  /** The events in the feed's order. */
  readonly events: readonly VerifiedEvent[];
  /** Undefined if the feed is not valid. */
  readonly state: FeedState | undefined;
  /** When they were verified; statuses are those of this time. */
  readonly now: Date;
}

/** A valid feed that is open in the explorer. */
export interface OpenFeed extends VerifiedDocuments {
  readonly state: FeedState;
  /** The source in links to this feed. */
  readonly source: string;
  /** The value for `sig check --sig`. */
  readonly commandSource: string;
  /** Whether the server passed the documents on, rather than the person. */
  readonly isProven: boolean;
  /** The bytes of the feed. */
  readonly bytes: Uint8Array | undefined;
}

/** Events that are replayed before yielding to rendering. */
const SLICE = 1_000;

/**
 * Verifies documents, and replays the feed if it is valid.
 *
 * @throws {DocumentsError} if the feed could not be verified.
 */
export async function verifyDocuments(
  documents: Documents,
  { issuer, onProgress, signal }: {
    /** The expected DID of the documents, if known. */
    readonly issuer?: string | undefined;
    /** Receives the verified part, from 0 to 1. */
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
  for (const [i, { event, line, isVoid }] of events.entries()) {
    if (i % SLICE === 0) await nextTask();
    replay.apply(event, line, isVoid);
  }
  await nextTask();
  return { report, events, state: replay.state(), now };
}
