/** What a problem says in its headers beside its body. @module */

import type { Problem } from "@sig/core";

/** The headers that a problem's status asks for (RFC 9110, RFC 6750). */
export function problemHeaders(problem: Problem): [string, string][] {
  const headers: [string, string][] = [];
  const { code, retry_after_seconds: retryAfter, allow } = problem;
  if (code === "unauthorized") headers.push(["www-authenticate", "Bearer"]);
  if (typeof retryAfter === "number") {
    headers.push(["retry-after", String(Math.ceil(retryAfter))]);
  }
  if (typeof allow === "string") headers.push(["allow", allow]);
  // What is left of the body is not waited for.
  if (code === "request_timeout" || code === "body_too_large") {
    headers.push(["connection", "close"]);
  }
  return headers;
}
