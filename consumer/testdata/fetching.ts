/** Short ways to fetch in tests. @module */

import type {
  GuardedFetchOptions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";

/** Fetches from loopback, with room for 1,000 bytes. */
export function fetchLocal(
  url: string,
  options: Partial<GuardedFetchOptions> = {},
): Promise<OpenedDocument> {
  return guardedFetch(url, {
    maxBytes: 1000,
    tooLargeCode: "document_too_large",
    allowPrivate: true,
    ...options,
  });
}

/** The whole body as text. */
export async function readText(fetched: OpenedDocument): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of fetched.bytes) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Fetches and reads. */
export async function fetchText(
  url: string,
  options: Partial<GuardedFetchOptions> = {},
): Promise<string> {
  return await readText(await fetchLocal(url, options));
}
