/** What a problem says in its headers beside its body. @module */

import type { Problem } from "@sig/core";

/**
 * The headers that a problem's status asks for (RFC 9110, RFC 6750).
 *
 * @example
 * ```ts
 * import { problemHeaders } from "./problem_headers.ts";
 * import { SigError, toProblem } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("unauthorized", "Cannot answer: who are you?");
 * assertEquals(problemHeaders(toProblem(error)), [
 *   ["www-authenticate", "Bearer"],
 * ]);
 * ```
 */
export function problemHeaders(problem: Problem): [string, string][] {
  const headers: [string, string][] = [];
  const { code, retry_after_seconds: retryAfter, allow } = problem;
  if (code === "unauthorized") headers.push(["www-authenticate", "Bearer"]);
  if (typeof retryAfter === "number") {
    headers.push(["retry-after", String(Math.ceil(retryAfter))]);
  }
  if (typeof allow === "string") headers.push(["allow", allow]);
  // What is left of the body is not waited for. Deno says so as well in some of
  // these cases, not in all of them.
  if (code === "request_timeout" || code === "body_too_large") {
    headers.push(["connection", "close"]);
  }
  return headers;
}
