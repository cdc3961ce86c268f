/** Sends responses: JSON, large texts, and errors as problems. @module */

import { type Problem, toProblem } from "@sig/core";
import type { Context } from "hono";
import { budgetOf } from "./limits.ts";

/**
 * Maximum size in bytes of a response that is passed to Deno whole, which
 * buffers as much anyway.
 */
const SENT_WHOLE_BYTES = 16 * 1024;
/** Size of the pieces of a larger response, in bytes. */
const PIECE_BYTES = 64 * 1024;
/** Checks of the client's progress per timeout. */
const CHECKS = 2;
const MAX_CHECKS = 4 * CHECKS;

/** Options of a response. */
export interface SendOptions {
  /** The status (default: 200). */
  readonly status?: number;
  /** Further headers. */
  readonly headers?: readonly (readonly [string, string])[];
}

/**
 * Creates a response with a text or bytes. A large response counts as held
 * bytes until it is sent. If the client stops reading, it is aborted, so that
 * the client sees that its end is missing: a server would otherwise keep the
 * text for as long as the client likes.
 *
 * @throws {SigError} `overloaded` if too many bytes wait to be sent.
 */
export function send(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  type: string,
  { status = 200, headers = [] }: SendOptions = {},
): Response {
  const isSmall = body.length <= SENT_WHOLE_BYTES;
  const bytes = isSmall || typeof body !== "string"
    ? body
    : new TextEncoder().encode(body);
  const isHead = c.req.raw.method === "HEAD";
  const response = new Response(
    isSmall || isHead || typeof bytes === "string" ? bytes : stream(c, bytes),
    { status, headers: { "content-type": type } },
  );
  for (const [name, value] of headers) response.headers.append(name, value);
  if (typeof bytes !== "string") {
    response.headers.set("content-length", String(bytes.length));
  }
  return response;
}

/**
 * Creates a response with a JSON value, as {@linkcode send} does.
 *
 * @throws {SigError} `overloaded`
 * @throws {TypeError} if the value is not JSON, such as `undefined`.
 */
export function sendJson(c: Context, value: unknown): Response {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) {
    throw new TypeError("Cannot answer: the value must be JSON");
  }
  return send(c, text, "application/json");
}

function stream(
  c: Context,
  bytes: Uint8Array<ArrayBuffer>,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const budget = budgetOf(c);
  const release = budget.hold(bytes.length);
  // Released when sending ends, since the stream itself may live longer.
  let rest: Uint8Array<ArrayBuffer> | undefined = bytes;
  let checks = 0;
  let lastLeft = bytes.length + 1;
  let timer: ReturnType<typeof setInterval>;
  const stop = () => {
    clearInterval(timer);
    release();
    rest = undefined;
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      timer = setInterval(() => {
        const left = rest?.length ?? 0;
        checks++;
        if (left !== lastLeft && checks < MAX_CHECKS) {
          lastLeft = left;
          return;
        }
        stop();
        controller.error(new Error("Cannot answer: the client does not read"));
      }, budget.capacity.sendTimeoutMs / CHECKS);
    },
    pull(controller) {
      controller.enqueue(rest!.subarray(0, PIECE_BYTES));
      rest = rest!.subarray(PIECE_BYTES);
      if (rest.length > 0) return;
      stop();
      controller.close();
    },
    cancel: stop,
  }, { highWaterMark: 0 });
}

/**
 * Returns an error as problem details (RFC 9457) with the request's id. An
 * error that is not a `SigError` becomes `internal`, without its details. The
 * log entry of the request gets the code, and for `internal` the error itself.
 *
 * @example
 * ```ts
 * import { problemResponse } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 * import { Hono } from "hono";
 *
 * const app = new Hono();
 * app.get("/", () => {
 *   throw new Error("a secret");
 * });
 * app.onError((error, c) => problemResponse(c, error));
 * const { status, code } = await (await app.request("/")).json();
 * assertEquals([status, code], [500, "internal"]);
 * ```
 *
 * @param as The status (default: that of the error).
 */
export function problemResponse(
  c: Context,
  error: unknown,
  as?: number,
): Response {
  try {
    return respond(c, error, as);
  } catch (fault) {
    // The error's context was not JSON, or not a valid header value.
    return respond(c, fault, as);
  }
}

function respond(c: Context, error: unknown, as?: number): Response {
  const known = problemOf(c, error);
  const problem: Problem = { ...known, status: as ?? known.status };
  const { status, code, retry_after_seconds: retryAfter, allow } = problem;
  const response = new Response(JSON.stringify(problem), {
    status,
    headers: { "content-type": "application/problem+json" },
  });
  const { headers } = response;
  if (code === "unauthorized") headers.set("www-authenticate", "Bearer");
  if (typeof retryAfter === "number") {
    headers.set("retry-after", String(Math.ceil(retryAfter)));
  }
  if (typeof allow === "string") headers.set("allow", allow);
  // The rest of the body is not awaited. Deno sends this header too in some of
  // these cases, but not in all.
  const isUnread = code === "overloaded" && c.req.method === "POST" &&
    c.get("budget")?.hasEntered !== true;
  if (code === "request_timeout" || code === "body_too_large" || isUnread) {
    headers.set("connection", "close");
  }
  c.set("code", code);
  return response;
}

/** Returns an error as problem details, also for one item of a batch. */
export function problemOf(c: Context, error: unknown): Problem {
  const problem = toProblem(error);
  if (problem.code === "internal") c.set("thrown", error);
  const { type, title, status, detail, ...rest } = problem;
  const instance = c.get("requestId");
  return { type, title, status, detail, ...rest, instance };
}
