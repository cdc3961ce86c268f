/** Shortcuts to fetch in tests. @module */

import type {
  GuardedFetchOptions,
  OpenedDocument,
} from "../fetch/fetch_options.ts";
import { guardedFetch } from "../fetch/guarded_fetch.ts";
import {
  type Behaviour,
  send,
  untilClosed,
} from "../../tests/kit/raw_server.ts";

/** A server that sends a text and waits for the client to close. */
export function hold(text: string): Behaviour {
  return async (connection) => {
    await send(connection, text);
    await untilClosed(connection);
  };
}

/** Fetches from loopback, at most 1,000 bytes (default). */
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

/** Reads the whole body as text. */
export async function readText(fetched: OpenedDocument): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of fetched.bytes) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Fetches and reads the body as text. */
export async function fetchText(
  url: string,
  options: Partial<GuardedFetchOptions> = {},
): Promise<string> {
  return await readText(await fetchLocal(url, options));
}
