/** A feed, verified in a worker, so that the page never stands still. @module */

import { hasEd25519 } from "../libraries/login.ts";
import {
  type FeedState,
  replay,
  type VerifiedEvent,
  type VerifyReport,
} from "../libraries/mod.ts";
import { type Documents, DocumentsError } from "./documents.ts";
import type { VerificationNews, VerificationOrder } from "./verification.ts";

/** What came of it. */
export interface CheckedFeed {
  readonly report: VerifyReport;
  /** In the feed's order. */
  readonly events: readonly VerifiedEvent[];
  /** Undefined when the feed is not valid. */
  readonly state: FeedState | undefined;
}

/** Options of {@linkcode checkFeed}. */
export interface CheckFeedOptions {
  /** The DID that the documents must be of, where it is known. */
  readonly expectedIssuer?: string | undefined;
  /** Told how much is verified, from 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Ends the work. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies documents, and replays them where they are valid.
 *
 * @throws {DocumentsError} When there is no verdict.
 */
export async function checkFeed(
  documents: Documents,
  { expectedIssuer, onProgress, signal }: CheckFeedOptions = {},
): Promise<CheckedFeed> {
  if (!await hasEd25519()) {
    throw new DocumentsError(
      "This browser can't verify Ed25519 signatures. A newer version can.",
    );
  }
  const order: VerificationOrder = {
    documents,
    ...(expectedIssuer === undefined ? {} : { expectedIssuer }),
  };
  const { report, events } = await inWorker(order, onProgress, signal);
  if (!report.valid) return { report, events, state: undefined };
  const { state } = replay(events.map(({ event }) => event), {
    issuer: report.issuer,
  });
  return { report, events, state };
}

/** The script of this page is the worker's too: `main.tsx` tells them apart. */
function inWorker(
  order: VerificationOrder,
  onProgress: ((share: number) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<Extract<VerificationNews, { kind: "done" }>> {
  const worker = new Worker(import.meta.url, { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<
    Extract<VerificationNews, { kind: "done" }>
  >();
  worker.onmessage = ({ data }: MessageEvent<VerificationNews>) => {
    if (data.kind === "progress") onProgress?.(data.share);
    else if (data.kind === "done") resolve(data);
    else reject(new DocumentsError(data.why));
  };
  worker.onerror = () =>
    reject(
      new DocumentsError("This browser did not start the verification."),
    );
  signal?.addEventListener("abort", () => reject(signal.reason));
  worker.postMessage(order);
  return promise.finally(() => worker.terminate());
}
