/** Answers: JSON and texts that may be large, and errors as problems. @module */

import { type Problem, toProblem } from "@sig/core";
import type { Context } from "hono";
import { budgetOf } from "./read_body.ts";

/** Bytes up to which an answer is handed to Deno, which holds as much anyway. */
const SMALL_BYTES = 16 * 1024;
/** Bytes that are sent at once. */
const PIECE_BYTES = 64 * 1024;
/** How often a timeout is looked at whether something was read. */
const LOOKS = 2;
const MAX_LOOKS = 4 * LOOKS;

/** What a response is, beside its body. */
export interface SendOptions {
  /** Default: 200. */
  readonly status?: number;
  /** Further headers. */
  readonly headers?: readonly (readonly [string, string])[];
}

/**
 * A response with a text or bytes. A large one counts until it is sent, and is
 * cut off, so that the client sees that its end is missing, when the client does
 * not read on: a server that is given a text keeps it for as long as the client
 * likes.
 *
 * @throws {SigError} `overloaded` when too much waits to be sent.
 */
export function send(
  c: Context,
  body: string | Uint8Array<ArrayBuffer>,
  type: string,
  { status = 200, headers = [] }: SendOptions = {},
): Response {
  const isSmall = body.length <= SMALL_BYTES;
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
 * A JSON value as {@linkcode send} sends it.
 *
 * @throws {SigError} `overloaded`
 * @throws {TypeError} for what is not JSON, such as `undefined`.
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
  // Let go when it is over: the stream itself may stay longer.
  let rest: Uint8Array<ArrayBuffer> | undefined = bytes;
  let looks = 0;
  let seen = bytes.length + 1;
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
        looks++;
        if (left !== seen && looks < MAX_LOOKS) {
          seen = left;
          return;
        }
        stop();
        controller.error(new Error("Cannot answer: the client does not read"));
      }, budget.capacity.sendTimeoutMs / LOOKS);
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
 * An error as problem details (RFC 9457) with the request's id. What is not a
 * `SigError` becomes `internal`, and nothing of it leaves the process. The log
 * entry of the request gets the code, and of `internal` what was thrown.
 *
 * @example
 * ```ts
 * import { problemResponse } from "@sig/api/http";
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
 */
export function problemResponse(c: Context, error: unknown): Response {
  try {
    return respond(c, error);
  } catch (fault) {
    // Its context was not JSON, or could not stand in a header.
    return respond(c, fault);
  }
}

function respond(c: Context, error: unknown): Response {
  const problem = problemOf(c, error);
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
  // What is left of the body is not waited for. Deno says so as well in some of
  // these cases, not in all of them.
  const isUnread = code === "overloaded" && c.req.method === "POST" &&
    c.get("budget")?.hasEntered !== true;
  if (code === "request_timeout" || code === "body_too_large" || isUnread) {
    headers.set("connection", "close");
  }
  c.set("code", code);
  return response;
}

/** An error as problem details, also for the place of one answer of several. */
export function problemOf(c: Context, error: unknown): Problem {
  const problem = toProblem(error);
  if (problem.code === "internal") c.set("thrown", error);
  const { type, title, status, detail, ...rest } = problem;
  const instance = c.get("requestId");
  return { type, title, status, detail, ...rest, instance };
}
