/** A refusal. @module */

import { isSigError } from "../libraries/login.ts";

/** The server's problem details, or that it gave no answer. */
export class Problem extends Error {
  /** The stable code; `no_answer` and `sign_failed` are this page's own. */
  readonly code: string;
  /** What to do next, if the server says so. */
  readonly hint: string;
  /** All of it. */
  readonly body: Readonly<Record<string, unknown>>;

  /** Made of what was received. */
  constructor(
    code: string,
    detail: string,
    body: Readonly<Record<string, unknown>> = {},
  ) {
    super(detail);
    this.code = code;
    this.body = body;
    this.hint = typeof body.hint === "string" ? body.hint : "";
  }
}

/** What was thrown while signing in, as a refusal. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isSigError(error)) {
    return new Problem(error.code, error.message, { ...error.context });
  }
  return new Problem(
    "sign_failed",
    "This browser did not sign. Reload the page and try again.",
  );
}
