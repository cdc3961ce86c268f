/** What a transport does: one request, no judgement. @module */

import { type NetworkBudget, waitForClose } from "./network_budget.ts";

/** The methods that are sent: none of them changes anything. */
export type RequestMethod = "GET" | "HEAD" | "OPTIONS";

/** One request. */
export interface TransportRequest {
  /** Default: GET. */
  readonly method?: RequestMethod | "POST";
  /** What is posted. */
  readonly body?: Uint8Array<ArrayBuffer> | undefined;
  /** Vetted: scheme, port, host name, no userinfo. */
  readonly url: URL;
  /** Header fields by lower-case name, without `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The only addresses that may be connected to; vetted IP literals. */
  readonly addresses: readonly string[];
  /** Milliseconds that connecting may take, all addresses together. */
  readonly connectTimeoutMs: number;
  /** PEM certificates to trust instead of the runtime's own. */
  readonly caCertificates?: readonly string[] | undefined;
}

/** The head of a response. */
export interface ResponseHead {
  /** Status code; 0 for a redirect that a browser hides. */
  readonly status: number;
  /** When the server's certificate ends, if the platform says so. */
  readonly certificateUntil?: Date | undefined;
  /** A header field by its lower-case name, or null. */
  header(name: string): string | null;
}

/** A response whose head has arrived. */
export interface TransportResponse extends ResponseHead {
  /**
   * The next chunk, or undefined at the end. Rejects when the body breaks off.
   * Not bounded in time: the budget is the caller's.
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Whether the headers are those of HTTP/1 as they were sent, so that
   * `content-length` counts the very bytes that `read` gives, and a missing
   * header was not sent.
   */
  readonly isVerbatim: boolean;
  /** Closes the connection. Never rejects; may be called twice. */
  close(): Promise<void>;
}

/**
 * Sends the request and waits, within the budget, for the head of the answer.
 * When it rejects, the connection is closed already.
 */
export type Transport = (
  request: TransportRequest,
  budget: NetworkBudget,
) => Promise<TransportResponse>;

/** What {@linkcode createPlainTransport} needs of `fetch`. */
export type Fetch = (request: Request) => Promise<Response>;

/**
 * A transport for browsers and for injected `fetch` functions. It can't choose
 * the address: where names must be checked, the caller does so by other means.
 * It sends no cookie, no credentials and no referrer, and follows no redirect.
 */
export function createPlainTransport(fetch: Fetch): Transport {
  return async ({ url, headers, body, method = "GET" }, budget) => {
    const abort = new AbortController();
    const request = new Request(url, {
      method,
      headers,
      body: body ?? null,
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
      // An injected `fetch` decides when its body is closed, if ever.
      if (reader !== undefined) await waitForClose(reader.cancel());
      abort.abort();
    },
  };
}
