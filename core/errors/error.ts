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
  /** All faults, if there is more than one. */
  readonly errors?: readonly Issue[];
  /** What to do next, one sentence. */
  readonly hint?: string;
  /** Anything else that helps. */
  readonly [key: string]: JsonValue | readonly Issue[] | undefined;
}

/** An error's words in two parts: "Cannot <action>: <reason>". */
export interface Sentence {
  /** What could not be done, as in "verify feed"; empty where that is untold. */
  readonly action: string;
  /** The reason alone, for reporting the error under another action. */
  readonly reason: string;
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
 *
 * @example Telling of it under another action
 * ```ts
 * import { SigError } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("key_not_found", "Cannot verify: no such key");
 * const renamed = new SigError(error.code, {
 *   action: "log in",
 *   reason: error.reason,
 * }, { cause: error });
 * assertEquals(renamed.message, "Cannot log in: no such key");
 * ```
 */
export class SigError extends Error implements Sentence {
  /** Always `SigError`; survives two copies of this module in one program. */
  override readonly name = "SigError";
  /** The stable code: the thing to branch on. */
  readonly code: ErrorCode;
  /** The code's category. */
  readonly category: ErrorCategory;
  /** The place and circumstances. */
  readonly context: ErrorContext;
  /** What could not be done. */
  readonly action: string;
  /** Why: the message without its beginning. */
  readonly reason: string;

  /** What to do next, where that is known: `context.hint`. */
  get hint(): string | undefined {
    return this.context.hint;
  }

  /**
   * Makes an error from its code and its words: in two parts, or as the whole
   * sentence "Cannot <action>: <reason>", whose action ends at the first colon
   * outside of quotes. Another SigError gives its words to this one.
   */
  constructor(
    code: ErrorCode,
    words: string | Sentence,
    options: SigErrorOptions = {},
  ) {
    const { action, reason } = typeof words === "string"
      ? partsOf(words)
      : words;
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

/** Each alternative begins with another character: no text is slow to match. */
const SENTENCE = /^Cannot ((?:[^":]|"(?:[^"\\]|\\[^])*"|:(?! ))+): ([^]+)$/;

/** A message without that beginning is all reason. */
function partsOf(sentence: string): Sentence {
  const [, action = "", reason = sentence] = SENTENCE.exec(sentence) ?? [];
  return { action, reason };
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
 * import { SigError } from "@sig/core";
 * import { withContext } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const error = new SigError("invalid_line", "Cannot read feed line");
 * assertEquals(withContext(error, { line: 3 }).context, { line: 3 });
 * ```
 */
export function withContext(error: SigError, context: ErrorContext): SigError {
  const merged = { ...context, ...error.context };
  return new SigError(error.code, error, {
    context: merged,
    cause: error.cause,
  });
}
