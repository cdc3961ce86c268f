/** Validators that are functions and also Standard Schemas. @module */

import type { Issue } from "../errors/error.ts";
import { SigError } from "../errors/error.ts";
import type { ErrorCode } from "../errors/error_codes.ts";

/** An issue as Standard Schema v1 defines it. */
export interface StandardIssue {
  /** A description of the fault. */
  readonly message: string;
  /** The path from the root: member names and indexes. */
  readonly path: readonly PropertyKey[];
}

/** A result as Standard Schema v1 defines it. */
export type StandardResult<T> =
  | { readonly value: T; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** The `~standard` property of Standard Schema v1. */
export interface StandardProps<T> {
  /** The version of Standard Schema. */
  readonly version: 1;
  /** The library that made the schema. */
  readonly vendor: "sig";
  /** Validates without throwing. */
  readonly validate: (value: unknown) => StandardResult<T>;
  /** Input and output types; absent at run time. */
  readonly types?: { readonly input: unknown; readonly output: T };
}

/**
 * A function that validates a value: it returns the value, or throws a
 * {@linkcode SigError} with the first fault's code, and with all faults in
 * `context.errors` if there are several. It is also a Standard Schema v1, so
 * web frameworks accept it as a validator.
 */
export interface Validator<T, Options = never> {
  (value: unknown, options?: Options): T;
  /** The interface of Standard Schema v1. */
  readonly "~standard": StandardProps<T>;
}

/** Creates a validator from a function that lists all faults of a value. */
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

/** Creates the error of some faults (default code: that of the first). */
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
