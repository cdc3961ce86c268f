/** HTTP by the platform's fetch, or one like it. @module */

import type { Transport, TransportResponse } from "./transport.ts";
import { waitForClose } from "./wait_for_close.ts";

/** What {@linkcode createPlainTransport} needs of `fetch`. */
export type Fetch = (request: Request) => Promise<Response>;

/**
 * A transport for browsers and for injected `fetch` functions. It can't choose
 * the address: who runs it where names must be vetted does so by other means.
 * It sends no cookie, no credentials and no referrer, and follows no redirect.
 */
export function createPlainTransport(fetch: Fetch): Transport {
  return async ({ url, headers, method = "GET" }, budget) => {
    const abort = new AbortController();
    const request = new Request(url, {
      method,
      headers,
      // Not "error": that would hide why it failed.
      redirect: "manual",
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      signal: abort.signal,
    });
    try {
      return toResponse(await budget.wait(fetch(request)), abort);
    } catch (error) {
      abort.abort();
      throw error;
    }
  };
}

function toResponse(
  response: Response,
  abort: AbortController,
): TransportResponse {
  const reader = response.body?.getReader();
  return {
    // An injected function may have followed a redirect all the same.
    status: response.redirected ? 0 : response.status,
    isVerbatim: false,
    header: (name) => response.headers.get(name),
    async read() {
      const result = await reader?.read();
      return result?.value;
    },
    async close() {
      // Whoever injects `fetch` decides when its body is closed, if ever.
      if (reader !== undefined) await waitForClose(reader.cancel());
      abort.abort();
    },
  };
}
