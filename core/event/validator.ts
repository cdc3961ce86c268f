/** Validators: functions that are also Standard Schemas. @module */

import type { Issue } from "../errors/error.ts";
import { SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";

/** What Standard Schema v1 calls an issue. */
export interface StandardIssue {
  /** In words. */
  readonly message: string;
  /** Member names and indexes from the root. */
  readonly path: readonly PropertyKey[];
}

/** What Standard Schema v1 calls a result. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** The `~standard` property of Standard Schema v1. */
export interface StandardProps<T> {
  /** Version of Standard Schema. */
  readonly version: 1;
  /** Who made the schema. */
  readonly vendor: "sig";
  /** Validates without throwing. */
  readonly validate: (value: unknown) => StandardResult<T>;
  /** Types only. */
  readonly types?: { readonly input: unknown; readonly output: T };
}

/**
 * Validates a value: returns it, or throws a {@linkcode SigError} with the
 * first fault's code, and all faults in `context.errors` when there are
 * several. Is a Standard Schema v1 as well, so that the validators of web
 * frameworks take it as it is.
 */
export interface Validator<T, Options = never> {
  (value: unknown, options?: Options): T;
  /** Standard Schema v1. */
  readonly "~standard": StandardProps<T>;
}

/** Makes a validator out of a function that lists all faults of a value. */
export function createValidator<T, Options>(
  what: string,
  findIssues: (value: unknown, options?: Options) => readonly Issue[],
  code?: ErrorCode,
): Validator<T, Options> {
  const validate = (value: unknown, options?: Options): T => {
    const issues = findIssues(value, options);
    if (issues.length > 0) throw issuesError(what, issues, code);
    return value as T;
  };
  const standard: StandardProps<T> = Object.freeze({
    version: 1 as const,
    vendor: "sig" as const,
    validate: (value: unknown): StandardResult<T> => {
      const issues = findIssues(value);
      if (issues.length === 0) return { value: value as T };
      return { issues: issues.map(toStandardIssue) };
    },
  });
  return Object.assign(validate, { "~standard": standard });
}

/** The error for a list of faults (default code: that of the first one). */
export function issuesError(
  what: string,
  issues: readonly Issue[],
  code?: ErrorCode,
): SigError {
  const [first, ...more] = issues;
  if (first === undefined) throw new RangeError("Cannot report no issue");
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  const place = first.pointer === "" ? "" : `${first.pointer} `;
  return new SigError(
    code ?? first.code,
    `Cannot accept ${what}: ${place}${first.detail}${others}`,
    {
      context: {
        pointer: first.pointer,
        ...(more.length === 0 && !code ? {} : { errors: issues }),
      },
    },
  );
}

function toStandardIssue(issue: Issue): StandardIssue {
  const path = issue.pointer.split("/").slice(1).map((step) =>
    step.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  return { message: `${issue.detail} (${issue.code})`, path };
}
