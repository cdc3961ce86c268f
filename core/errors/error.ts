/** The error class of this toolkit, and its errors as problem details. @module */

import {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "./error_codes.ts";

/** A JSON value, as an error's context may contain it. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** One fault of a value. */
export interface Issue {
  /** JSON Pointer (RFC 6901) to the faulty value; `""` is the whole value. */
  readonly pointer: string;
  /** The error code of the violated rule. */
  readonly code: ErrorCode;
  /** A description of the rule, for people. */
  readonly detail: string;
}

/**
 * Details of an error. They are JSON-safe and never contain a secret: they are
 * shown to users and sent over HTTP.
 */
export interface ErrorContext {
  /** Line number in the feed, from 1. */
  readonly line?: number;
  /** The sequence in the payload, or else the expected one. */
  readonly sequence?: number;
  /** The key identifier. */
  readonly kid?: string;
  /** JSON Pointer to the faulty member. */
  readonly pointer?: string;
  /** All faults, if there are several. */
  readonly errors?: readonly Issue[];
  /** A suggested next step, as one sentence. */
  readonly hint?: string;
  /** Other details. */
  readonly [key: string]: JsonValue | readonly Issue[] | undefined;
}

/** The two parts of an error message "Cannot <action>: <reason>". */
export interface Sentence {
  /** The failed action, such as "verify feed"; empty if unknown. */
  readonly action: string;
  /** The reason alone, to report the error under another action. */
  readonly reason: string;
}

/** What a {@linkcode SigError} says. */
export interface SigErrorOptions {
  /** The failed action, such as "verify feed" (default: none). */
  readonly action?: string;
  /** The reason, or without an action the whole message. */
  readonly reason: string;
  /** The details of the error (default: none). */
  readonly context?: ErrorContext;
  /** The underlying error, if any; never shown to users. */
  readonly cause?: unknown;
}

/**
 * An expected failure of this toolkit. Programming errors are `TypeError` or
 * `RangeError` instead.
 *
 * @example Distinguish failures by their code
 * ```ts
 * import { isSigError, SigError } from "@sig/core";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const error = new SigError("sequence_gap", {
 *   action: "verify feed",
 *   reason: "sequence jumps from 4 to 6",
 *   context: { line: 5, sequence: 6 },
 * });
 * assert(isSigError(error, "sequence_gap"));
 * assertEquals(error.category, "invalid");
 * ```
 *
 * @example Report an error under another action
 * ```ts
 * import { SigError } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("key_not_found", {
 *   action: "verify",
 *   reason: "no such key",
 * });
 * const renamed = new SigError(error.code, {
 *   action: "log in",
 *   reason: error.reason,
 *   cause: error,
 * });
 * assertEquals(renamed.message, "Cannot log in: no such key");
 * ```
 */
export class SigError extends Error implements Sentence {
  /** Always `SigError`, also in another copy of this module. */
  override readonly name = "SigError";
  /** The stable code, on which programs can branch. */
  readonly code: ErrorCode;
  /** The code's category. */
  readonly category: ErrorCategory;
  /** The details of the error. */
  readonly context: ErrorContext;
  /** The failed action, such as "verify feed"; empty if unknown. */
  readonly action: string;
  /** The reason: the message without "Cannot <action>: ". */
  readonly reason: string;

  /** A suggested next step, if known: `context.hint`. */
  get hint(): string | undefined {
    return this.context.hint;
  }

  /** Creates an error with the message "Cannot <action>: <reason>". */
  constructor(code: ErrorCode, options: SigErrorOptions) {
    const { action = "", reason } = options;
    super(
      action === "" ? reason : `Cannot ${action}: ${reason}`,
      "cause" in options ? { cause: options.cause } : undefined,
    );
    this.code = code;
    this.category = ERROR_CODES[code].category;
    this.context = options.context ?? {};
    this.action = action;
    this.reason = reason;
  }
}

/**
 * Returns whether a value is a {@linkcode SigError}, optionally with a given
 * code. Use it instead of `instanceof`, which fails when a program contains two
 * copies of this package. The code of an error of another version may be
 * unknown to this one.
 *
 * @example
 * ```ts
 * import { isSigError, SigError } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * assert(!isSigError(new Error("no")));
 * const error = new SigError("not_found", { reason: "no such event" });
 * assert(isSigError(error, "not_found"));
 * ```
 */
export function isSigError(
  error: unknown,
  code?: ErrorCode,
): error is SigError {
  if (!(error instanceof Error) || error.name !== "SigError") return false;
  const { code: found } = error as { code?: unknown };
  // Not the list of codes: another version may have more, and this function
  // alone stays small in a bundle.
  return typeof found === "string" &&
    /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(found) &&
    (code === undefined || found === code);
}

/**
 * Returns the same error with more context. Existing members are kept, so the
 * place nearest to the fault wins.
 *
 * @example
 * ```ts
 * import { SigError } from "@sig/core";
 * import { withContext } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("invalid_line", { reason: "not JSON" });
 * assertEquals(withContext(error, { line: 3 }).context, { line: 3 });
 * ```
 */
export function withContext(error: SigError, context: ErrorContext): SigError {
  return new SigError(error.code, {
    ...error,
    context: { ...context, ...error.context },
    cause: error.cause,
  });
}

/** An error as problem details; the context's members are at the top level. */
export interface Problem {
  /** The problem type: `urn:sig:problem:<code>`. */
  readonly type: string;
  /** The code as a short title. */
  readonly title: string;
  /** The HTTP status. */
  readonly status: number;
  /** The error message. */
  readonly detail: string;
  /** The stable error code. */
  readonly code: ErrorCode;
  /** All faults, if there are several. */
  readonly errors?: readonly Issue[];
  /** Other details, such as the request id or the place of the fault. */
  readonly [member: string]: JsonValue | readonly Issue[] | undefined;
}

/**
 * Converts an error to problem details. Anything but a `SigError` becomes
 * `internal`, without its message, which may contain secrets.
 *
 * @example
 * ```ts
 * import { SigError, toProblem } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("key_not_found", {
 *   action: "verify",
 *   reason: "no such key",
 *   context: { line: 3, kid: "orgsign-2" },
 * });
 * assertEquals(toProblem(error), {
 *   type: "urn:sig:problem:key_not_found",
 *   title: "Key not found",
 *   status: 422,
 *   detail: "Cannot verify: no such key",
 *   code: "key_not_found",
 *   line: 3,
 *   kid: "orgsign-2",
 * });
 * assertEquals(toProblem(new Error("secret")).code, "internal");
 * ```
 */
export function toProblem(error: unknown): Problem {
  // An error of another version of this package may have an unknown code.
  const isKnown = isSigError(error) && Object.hasOwn(ERROR_CODES, error.code);
  const { code, context, message } = isKnown ? error : INTERNAL;
  return {
    // Context members come first, so that none can replace a standard member.
    ...context,
    type: `urn:sig:problem:${code}`,
    title: titleOf(code),
    status: ERROR_CODES[code].status,
    detail: message,
    code,
  };
}

const INTERNAL = {
  code: "internal",
  context: {},
  message: "Cannot go on: an internal error occurred",
} as const;

function titleOf(code: string): string {
  const words = code.replaceAll("_", " ");
  return words[0]!.toUpperCase() + words.slice(1);
}
