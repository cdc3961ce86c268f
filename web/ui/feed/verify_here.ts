/** Verifying documents by the libraries' own code: the worker's work. @module */

import {
  type DocumentReader,
  isSigError,
  reportIssuer,
  SigError,
  type VerifiedEvent,
} from "../libraries/mod.ts";
import type { Bytes, Documents } from "./documents.ts";
import type { VerificationNews, VerificationOrder } from "./verification.ts";

/** Between two pieces progress is told. */
const CHUNK_BYTES = 64 * 1024;

/** Verifies, and tells how far it is and what came of it. */
export async function verifyHere(
  { documents, expectedIssuer }: VerificationOrder,
  tell: (news: VerificationNews) => void,
): Promise<void> {
  const events: VerifiedEvent[] = [];
  try {
    const report = await reportIssuer(
      {
        reader: readerOf(
          documents,
          (share) => tell({ kind: "progress", share }),
        ),
        metadataRef: "/.well-known/sig.json",
        expectedIssuer,
      },
      { now: new Date(), onEvent: (verified) => void events.push(verified) },
    );
    tell({ kind: "done", report, events });
  } catch (error) {
    const why = isSigError(error)
      ? error.message
      : "Something went wrong in this browser. Try again.";
    tell({ kind: "failed", why });
  }
}

function readerOf(
  documents: Documents,
  onProgress: (share: number) => void,
): DocumentReader {
  return {
    kind: "inline",
    open(_ref, { name, maxBytes }) {
      const bytes = documents[name];
      if (bytes === undefined) {
        return Promise.reject(
          new SigError(
            "source_not_found",
            `Cannot read ${name}: it is absent`,
            { context: { reason: "missing" } },
          ),
        );
      }
      if (bytes.length > maxBytes) {
        return Promise.reject(
          new SigError(
            name === "feed" ? "feed_too_large" : "document_too_large",
            `Cannot read ${name}: it is larger than ${maxBytes} bytes`,
          ),
        );
      }
      return Promise.resolve({
        bytes: chunksOf(bytes, name === "feed" ? onProgress : undefined),
        mediaType: null,
        etag: null,
        cancel() {},
      });
    },
  };
}

async function* chunksOf(
  bytes: Bytes,
  onProgress: ((share: number) => void) | undefined,
): AsyncGenerator<Bytes> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    onProgress?.(at / bytes.length);
    yield bytes.subarray(at, at + CHUNK_BYTES);
  }
  onProgress?.(1);
}
