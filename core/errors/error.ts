/** The one error class of this toolkit. @module */

import {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "./error_codes.ts";

/** A value that survives JSON: what an error's context may hold. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** One fault of a value: where, which rule, in words. */
export interface Issue {
  /** JSON Pointer (RFC 6901) of the fault; `""` is the whole value. */
  readonly pointer: string;
  /** The code of the broken rule. */
  readonly code: ErrorCode;
  /** What was expected there, for people. */
  readonly detail: string;
}

/**
 * The place and circumstances of an error. JSON-safe, and never a secret: it
 * is shown to users and sent over HTTP.
 */
export interface ErrorContext {
  /** Line of the feed, from 1. */
  readonly line?: number;
  /** Sequence that the payload claims, or else the one expected there. */
  readonly sequence?: number;
  /** Key identifier. */
  readonly kid?: string;
  /** JSON Pointer of the field. */
  readonly pointer?: string;
  /** All faults, where there is more than one to tell. */
  readonly errors?: readonly Issue[];
  /** What to do next, one sentence. */
  readonly hint?: string;
  /** Anything else that helps. */
  readonly [key: string]: JsonValue | readonly Issue[] | undefined;
}

/** Options of {@linkcode SigError}. */
export interface SigErrorOptions {
  /** The place and circumstances. */
  readonly context?: ErrorContext;
  /** The error below, if there was one; never shown to users. */
  readonly cause?: unknown;
}

/**
 * Every expected failure of this toolkit. Programmer mistakes are `TypeError`
 * or `RangeError` instead.
 *
 * @example Telling one failure from another
 * ```ts
 * import { isSigError, SigError } from "@sig/core";
 * import { assert, assertEquals } from "@std/assert";
 *
 * const error = new SigError(
 *   "sequence_gap",
 *   "Cannot verify feed: sequence jumps from 4 to 6",
 *   { context: { line: 5, sequence: 6 } },
 * );
 * assert(isSigError(error, "sequence_gap"));
 * assertEquals(error.category, "invalid");
 * ```
 */
export class SigError extends Error {
  /** Always `SigError`; survives two copies of this module in one program. */
  override readonly name = "SigError";
  /** The stable code: the thing to branch on. */
  readonly code: ErrorCode;
  /** The code's category. */
  readonly category: ErrorCategory;
  /** The place and circumstances. */
  readonly context: ErrorContext;

  /** Makes an error from its code and a sentence "Cannot X: why". */
  constructor(code: ErrorCode, message: string, options: SigErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.category = ERROR_CODES[code].category;
    this.context = options.context ?? {};
  }
}

/**
 * Whether a thrown value is a {@linkcode SigError}, optionally of one code. To
 * be used instead of `instanceof`, which fails when a program holds two copies
 * of this package.
 *
 * @example
 * ```ts
 * import { isSigError, SigError } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * assert(!isSigError(new Error("no")));
 * assert(isSigError(new SigError("not_found", "Cannot find it"), "not_found"));
 * ```
 */
export function isSigError(
  error: unknown,
  code?: ErrorCode,
): error is SigError {
  if (!(error instanceof Error) || error.name !== "SigError") return false;
  const found = (error as { code?: unknown }).code;
  if (typeof found !== "string" || !Object.hasOwn(ERROR_CODES, found)) {
    return false;
  }
  return code === undefined || found === code;
}

/**
 * The same error with more context: what is already there wins, so the place
 * nearest to the fault is kept.
 *
 * @example
 * ```ts
 * import { SigError, withContext } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("invalid_line", "Cannot read feed line");
 * assertEquals(withContext(error, { line: 3 }).context, { line: 3 });
 * ```
 */
export function withContext(error: SigError, context: ErrorContext): SigError {
  const merged = { ...context, ...error.context };
  return new SigError(error.code, error.message, {
    context: merged,
    cause: error.cause,
  });
}
