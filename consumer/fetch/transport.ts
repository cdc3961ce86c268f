/**
 * The interface of a transport, which sends one request without checking the
 * response.
 *
 * @module
 */

import { type NetworkBudget, waitForClose } from "./network_budget.ts";

/** The methods of a request. All of them are safe (RFC 9110 §9.2.1). */
export type RequestMethod = "GET" | "HEAD" | "OPTIONS";

export interface TransportRequest {
  readonly method?: RequestMethod | "POST";
  readonly body?: Uint8Array<ArrayBuffer> | undefined;
  /**
   * The vetted URL: scheme, port and host name are allowed, and it has no
   * userinfo.
   */
  readonly url: URL;
  /** Header fields by lower-case name, without `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Vetted IP literals: the only addresses that may be connected to. */
  readonly addresses: readonly string[];
  /** Time limit for connecting in milliseconds, all addresses together. */
  readonly connectTimeoutMs: number;
  /** PEM certificates of the authorities to trust, instead of the runtime's. */
  readonly caCertificates?: readonly string[] | undefined;
}

/** The head of a response. */
export interface ResponseHead {
  /** Status code, or 0 for a redirect that a browser hides. */
  readonly status: number;
  /** When the server's certificate expires, if the platform reports it. */
  readonly certificateUntil?: Date | undefined;
  /** Returns a header field by its lower-case name, or null. */
  header(name: string): string | null;
}

/** A response whose head has arrived. */
export interface TransportResponse extends ResponseHead {
  /**
   * Returns the next chunk, or undefined at the end. Rejects if the body is
   * truncated. Has no timeout: the caller applies the budget.
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Whether the headers are HTTP/1 headers exactly as sent: `content-length`
   * counts the bytes that `read` returns, and a missing header was not sent.
   */
  readonly isVerbatim: boolean;
  /** Closes the connection. Never rejects. Can be called more than once. */
  close(): Promise<void>;
}

/**
 * Sends the request and waits, within the budget, for the head of the response.
 * If it rejects, the connection is already closed.
 */
export type Transport = (
  request: TransportRequest,
  budget: NetworkBudget,
) => Promise<TransportResponse>;

type Fetch = (request: Request) => Promise<Response>;

/**
 * Creates a transport for browsers and for injected `fetch` functions. It can't
 * choose the address: the caller checks names by other means. It sends no
 * cookies, no credentials and no referrer, and follows no redirect.
 */
export function createPlainTransport(fetch: Fetch): Transport {
  return async ({ url, headers, body, method = "GET" }, budget) => {
    const abort = new AbortController();
    const request = new Request(url, {
      method,
      headers,
      body: body ?? null,
      // With "error" the reason of the failure would be hidden.
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
    // An injected function may have followed a redirect despite "manual".
    status: response.redirected ? 0 : response.status,
    isVerbatim: false,
    header: (name) => response.headers.get(name),
    async read() {
      const result = await reader?.read();
      return result?.value;
    },
    async close() {
      // An injected `fetch` may never finish closing its body.
      if (reader !== undefined) await waitForClose(reader.cancel());
      abort.abort();
    },
  };
}
