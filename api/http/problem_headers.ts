/** What a problem says in its headers beside its body. @module */

import type { Problem } from "@sig/core";

/**
 * The headers that a problem's status asks for (RFC 9110, RFC 6750). That the
 * connection ends where the rest of a body isn't awaited, the server says.
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
  return headers;
}
