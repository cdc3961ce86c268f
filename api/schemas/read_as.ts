/** Parses a value by its schema. @module */

import { escapeInvisible, type Issue, SigError } from "@sig/core";
import { escapePointer } from "@sig/core/internal";
import type { z } from "zod";

/** Maximum number of faults in an error; a body can contain more. */
const MAX_FAULTS = 100;
/** Maximum length of an unknown name that an error repeats. */
const MAX_NAME_LENGTH = 80;

/** A fault with its location in the value. */
interface Fault extends Issue {
  /** The exact error, if there is one besides "this field is invalid". */
  readonly error?: SigError | undefined;
}

/** Names of types in messages. */
const TYPES: { readonly [type: string]: string } = {
  string: "a string",
  object: "an object",
  array: "an array",
  boolean: "true or false",
};

/**
 * Parses a value, or throws all its faults with their JSON Pointers.
 *
 * @param pointer The JSON Pointer of the value in the body (RFC 6901; default:
 * the whole).
 * @throws {SigError} the exact code if a {@linkcode parsed} text is the only
 * fault, otherwise `invalid_request` with all faults in `context.errors`.
 * Unknown members come first, since a misspelt member explains a missing one.
 */
export function readAs<T>(
  schema: z.ZodType<T>,
  value: unknown,
  pointer = "",
): T {
  const read = schema.safeParse(value, HOW);
  if (read.success) return read.data;
  const { issues } = read.error;
  const isUnknown = ({ code }: z.core.$ZodIssue) =>
    code === "unrecognized_keys";
  throw toError(
    [
      ...issues.filter(isUnknown),
      ...issues.filter((issue) => !isUnknown(issue)),
    ].flatMap((issue) => toFaults(issue, pointer)).slice(0, MAX_FAULTS),
  );
}

/** Returns a name for an error, shortened without splitting a character. */
export function shortName(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

/**
 * Returns the message of zod's own checks; those of `parts.ts` have their own
 * messages.
 */
function explain(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return `it must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `it must be one of ${issue.values.join(", ")}`;
    case "too_small":
      return "it must not be empty";
    case "too_big":
      return `it must have at most ${issue.maximum} characters`;
    default:
      return undefined;
  }
}

const HOW = { error: explain, reportInput: true };

function toFaults(
  issue: z.core.$ZodIssue,
  start: string,
): readonly Fault[] {
  const pointer = [start, ...issue.path.map(String).map(escapePointer)]
    .join("/");
  if (issue.code === "unrecognized_keys") {
    // Splits the faults of `strictObject` into one for each unknown member.
    return issue.message.split("\n").map((detail, i) => ({
      pointer: `${pointer}/${escapePointer(shortName(issue.keys[i]!))}`,
      code: "invalid_field",
      detail,
    }));
  }
  if (issue.code !== "custom") {
    return issue.input === undefined
      ? [{ pointer, code: "missing_field", detail: "it is required" }]
      : [{ pointer, code: "invalid_field", detail: issue.message }];
  }
  const { error, isMissing = false } = (issue.params ?? {}) as {
    readonly error?: SigError;
    readonly isMissing?: boolean;
  };
  const code = isMissing ? "missing_field" : "invalid_field";
  const detail = issue.message;
  return [{ pointer, code: error?.code ?? code, detail, error }];
}

function toError(faults: readonly Fault[]): SigError {
  const [{ error, pointer, detail }, ...more] = faults as [Fault, ...Fault[]];
  if (error !== undefined && more.length === 0) {
    return new SigError(error.code, {
      ...error,
      context: { ...error.context, pointer },
      cause: error,
    });
  }
  const errors = faults.map(({ pointer, code, detail }) => ({
    pointer,
    code,
    detail,
  }));
  // The pointer may contain a name that a client chose.
  const place = pointer === "" ? "the body" : escapeInvisible(pointer);
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return new SigError("invalid_request", {
    action: "read request",
    reason: `${place}: ${detail}${others}`,
    context: { pointer, errors },
  });
}
