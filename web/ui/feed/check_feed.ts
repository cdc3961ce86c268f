/** A feed, verified in a worker, so that the page never stands still. @module */
/// <reference lib="dom" />

import { hasEd25519 } from "../libraries/login.ts";
import {
  type FeedState,
  replay,
  type VerifiedEvent,
  type VerifyReport,
} from "../libraries/mod.ts";
import { type Documents, DocumentsError } from "./documents.ts";
import type { VerificationNews, VerificationOrder } from "./verification.ts";
import { verifyHere } from "./verify_here.ts";

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

/** Of the script that this stands in: it is the worker's too. */
const SCRIPT: string = (import.meta.url as string | undefined) ??
  // A bundle without modules, as pages in a folder need it, is told otherwise.
  (globalThis.document?.currentScript as HTMLScriptElement | null)?.src ?? "";

function inWorker(
  order: VerificationOrder,
  onProgress: ((share: number) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<Done> {
  const { promise, resolve, reject } = Promise.withResolvers<Done>();
  signal?.addEventListener("abort", () => reject(signal.reason));
  const hear = (news: VerificationNews) => {
    if (news.kind === "progress") onProgress?.(news.share);
    else if (news.kind === "done") resolve(news);
    else reject(new DocumentsError(news.why));
  };
  const worker = startWorker();
  if (worker === undefined) {
    void verifyHere(order, hear);
    return promise;
  }
  worker.onmessage = ({ data }: MessageEvent<VerificationNews>) => hear(data);
  worker.onerror = () =>
    reject(
      new DocumentsError("This browser did not start the verification."),
    );
  worker.postMessage(order);
  return promise.finally(() => worker.terminate());
}

type Done = Extract<VerificationNews, { kind: "done" }>;

/** Undefined where a page may have none, as one that was opened from a folder. */
function startWorker(): Worker | undefined {
  if (location.protocol === "file:") return undefined;
  return new Worker(SCRIPT, { type: "module" });
}

/** What the script does as a worker. */
export function serveVerification(): void {
  addEventListener("message", ({ data }: MessageEvent<VerificationOrder>) => {
    void verifyHere(data, (news) => postMessage(news));
  });
}
