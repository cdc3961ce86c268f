/** Errors as responses (RFC 9457), outside of our own servers. @module */

import { SigError, toProblem } from "@sig/core";

/**
 * The response to a request that failed; nothing of what is no `SigError` is told.
 *
 * @param status The error's own unless told.
 */
export function refuse(error: unknown, status?: number): Response {
  const known = toProblem(error);
  const problem = { ...known, status: status ?? known.status };
  const headers = new Headers({
    "content-type": "application/problem+json",
    "cache-control": "no-store",
  });
  const { retry_after_seconds: seconds } = known;
  if (typeof seconds === "number") {
    headers.set("retry-after", String(Math.ceil(seconds)));
  } else if (problem.status === 503) headers.set("retry-after", "5");
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers,
  });
}

/** Nobody is logged in. */
export function unauthorized(): SigError {
  return new SigError(
    "unauthorized",
    "Cannot answer: nobody is logged in",
    { context: { hint: "Log in first." } },
  );
}
