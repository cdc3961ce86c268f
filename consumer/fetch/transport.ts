/**
 * The interface of a transport, which sends one request without checking the
 * response, and the time that it may wait for the network.
 *
 * @module
 */

export interface TransportRequest {
  /** The method (default: GET). */
  readonly method?: "POST";
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

/** Timers use 32 bits: a longer delay would fire immediately. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Thrown by {@linkcode NetworkBudget.wait} if a wait took too long. */
export class WaitTimeout extends Error {
  /**
   * The limit that was reached: that of this wait, or that of the whole budget.
   */
  readonly scope: "wait" | "total";

  constructor(scope: "wait" | "total") {
    super(`Cannot wait longer: the ${scope} limit is reached`);
    this.scope = scope;
  }
}

/** The total time that one fetch may spend waiting. */
export interface NetworkBudget {
  /** Time waited so far in milliseconds. */
  readonly spentMs: number;
  /**
   * Waits for `work`, at most `limitMs` and the rest of the budget. Rejects
   * with {@linkcode WaitTimeout}, or with the signal's reason if the caller
   * aborts. The caller must then stop the work itself.
   */
  wait<T>(work: Promise<T>, limitMs?: number): Promise<T>;
}

/**
 * Creates a budget. Only the time within {@linkcode NetworkBudget.wait} counts:
 * verifying between two chunks takes nothing from a slow network, while a
 * server that drips a byte at a time uses up the budget.
 *
 * The clock is monotonic and is never compared with the time of day.
 */
export function createNetworkBudget(
  totalMs: number,
  signal?: AbortSignal,
): NetworkBudget {
  let spentMs = 0;
  // A timer may fire slightly early, which must not leave time for another
  // wait.
  let isOver = false;
  return {
    get spentMs() {
      return spentMs;
    },
    async wait<T>(work: Promise<T>, limitMs = Infinity): Promise<T> {
      // The work may reject after the wait has ended.
      work.catch(() => {});
      signal?.throwIfAborted();
      const leftMs = totalMs - spentMs;
      if (isOver || leftMs <= 0) throw new WaitTimeout("total");
      if (limitMs <= 0) throw new WaitTimeout("wait");
      const scope = limitMs < leftMs ? "wait" : "total";
      const { promise: stop, reject } = Promise.withResolvers<never>();
      const onAbort = () => reject(signal?.reason);
      signal?.addEventListener("abort", onAbort);
      const timer = setTimeout(() => {
        isOver = scope === "total";
        reject(new WaitTimeout(scope));
      }, Math.min(limitMs, leftMs));
      const startedAt = performance.now();
      try {
        return await Promise.race([work, stop]);
      } finally {
        spentMs += performance.now() - startedAt;
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

/**
 * Maximum wait for a close in milliseconds. Closing takes no time unless there
 * is a bug.
 */
const CLOSE_TIMEOUT_MS = 1_000;

/** Waits until `closing` settles, one second at most. Never rejects. */
export async function waitForClose(closing: Promise<unknown>): Promise<void> {
  const over = Promise.withResolvers<void>();
  const timer = setTimeout(over.resolve, CLOSE_TIMEOUT_MS);
  await Promise.race([closing.catch(() => {}), over.promise]);
  clearTimeout(timer);
}
