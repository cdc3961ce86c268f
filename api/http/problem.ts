/** Errors as answers. @module */

import { toProblem } from "@sig/core";
import type { Context } from "hono";

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
  const problem = toProblem(error);
  const { type, title, status, detail, ...rest } = problem;
  const { code, retry_after_seconds: retryAfter, allow } = problem;
  const instance: string | undefined = c.get("requestId");
  const response = new Response(
    JSON.stringify({ type, title, status, detail, ...rest, instance }),
    { status, headers: { "content-type": "application/problem+json" } },
  );
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
  if (code === "internal") c.set("thrown", error);
  return response;
}
