/** Documents that the page holds, as the libraries read them. @module */

import { SigError } from "../libraries/login.ts";
import type { DocumentReader } from "../libraries/mod.ts";
import type { Bytes, Documents } from "./documents.ts";

/** Between two pieces progress is told. */
const CHUNK_BYTES = 64 * 1024;

/** A reader of documents that are here, which tells how much of the feed is read. */
export function readerOf(
  documents: Partial<Documents>,
  onProgress?: (share: number) => void,
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
