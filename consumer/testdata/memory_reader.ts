/** A document reader over a map, for tests of verification. @module */

import { SigError } from "@sig/core";
import { type DocumentReader, inPieces } from "../read/reader.ts";

/** Creates a reader that finds a reference by its path. */
export function createMemoryReader(
  files: ReadonlyMap<string, string | Uint8Array>,
  kind: DocumentReader["kind"] = "local",
): DocumentReader {
  return {
    kind,
    open(ref, { conditions }) {
      const { pathname } = new URL(ref, "https://host.invalid");
      const file = files.get(pathname);
      if (file === undefined) {
        return Promise.reject(
          new SigError("source_not_found", {
            action: "read",
            reason: "no such file",
            context: { reason: "missing" },
          }),
        );
      }
      const bytes = typeof file === "string"
        ? new TextEncoder().encode(file)
        : file;
      const opened = { mediaType: null, etag: null, cancel() {} };
      const { range } = conditions ?? {};
      if (range === undefined) {
        const { length } = bytes;
        return Promise.resolve({ ...opened, bytes: inPieces(bytes), length });
      }
      const { length: total } = bytes;
      if (range.from >= total) {
        return Promise.reject(
          new SigError("fetch_status", {
            action: "fetch",
            reason: "status 416",
            context: { status: 416 },
          }),
        );
      }
      return Promise.resolve({
        ...opened,
        bytes: inPieces(bytes.subarray(range.from)),
        range: { first: range.from, last: total - 1, total },
      });
    },
  };
}
