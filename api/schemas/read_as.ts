/** Reading a value by its schema. @module */

import { escapeInvisible, type Issue, SigError } from "@sig/core";
import { escapePointer } from "@sig/core/internal";
import type { z } from "zod";

/** Faults listed at most: a body can hold more of them than an answer should. */
const MAX_FAULTS = 100;
/** Characters of an unknown name that an error repeats. */
const MAX_NAME_LENGTH = 80;

/** What is wrong with a value at a place. */
interface Fault extends Issue {
  /** The exact error, where there is one beside "this field is wrong". */
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
 * Reads a whole value, or throws everything that is wrong with it, each fault by
 * its place.
 *
 * @param pointer Where the value stands (RFC 6901; default: the whole).
 * @throws {SigError} the exact code when a {@linkcode parsed} text is the only
 * fault, else `invalid_request` with all faults in `context.errors`, unknown
 * members first: a misspelt member explains a missing one.
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

/** A name as errors repeat it: a cut must not leave half a character. */
export function shortName(name: string): string {
  return name.slice(0, MAX_NAME_LENGTH).toWellFormed();
}

/** What zod's own checks say; those of `parts.ts` have their own words. */
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
    // One line a member, as `strictObject` says it.
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
    return new SigError(error.code, error, {
      // Its own pointer would be relative to the value alone.
      context: { ...error.context, pointer },
      cause: error,
    });
  }
  const errors = faults.map(({ pointer, code, detail }) => ({
    pointer,
    code,
    detail,
  }));
  // The pointer may hold a name that somebody else chose.
  const place = pointer === "" ? "the body" : escapeInvisible(pointer);
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  return new SigError(
    "invalid_request",
    `Cannot read request: ${place}: ${detail}${others}`,
    { context: { pointer, errors } },
  );
}
