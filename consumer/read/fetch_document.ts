/** One small document, guarded, in memory. @module */

import type { FetchPolicy } from "../fetch/fetch_options.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";
import { readAll } from "./reader.ts";

/** Options of {@linkcode fetchDocument}. */
export interface FetchDocumentOptions extends FetchPolicy {
  /** Bytes at most. */
  readonly maxBytes: number;
}

/**
 * Fetches a document that a stranger named, such as the `did.json` of a
 * did:web: public addresses only, no redirects, limits on bytes and time
 * (docs/protocol.md §10). What it says is not judged.
 *
 * @example A private address is refused before anything is connected to
 * ```ts
 * import { fetchDocument } from "@sig/consumer";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(
 *   () => fetchDocument("https://10.0.0.1/did.json", { maxBytes: 65_536 }),
 *   SigError,
 *   "the address is not a public one",
 * );
 * ```
 *
 * @throws {SigError} `insecure_url`, `address_not_allowed`, `fetch_redirected`,
 * `fetch_status`, `fetch_media_type`, `fetch_timeout`, `fetch_failed`,
 * `document_too_large`.
 * @throws {RangeError} for a limit that is none.
 */
export async function fetchDocument(
  url: string,
  options: FetchDocumentOptions,
): Promise<Uint8Array> {
  const fetched = await guardedFetch(url, {
    ...options,
    tooLargeCode: "document_too_large",
  });
  return await readAll({ ...fetched, bytes: fetched.body }, options.maxBytes);
}
