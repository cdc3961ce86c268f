/**
 * Strict parsing with zod: this project's messages, the codes of `SigError`,
 * and schemas that zod lacks.
 *
 * @module
 */

import { escapeInvisible, isSigError, type Issue, SigError } from "@sig/core";
import {
  escapePointer,
  isObject,
  quote,
  suggest,
  Timepoint,
} from "@sig/core/internal";
import { z } from "zod";

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
function shortName(name: string): string {
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

/** Maximum number of unknown members in an error; a body can contain more. */
const MAX_UNKNOWN = 100;

/**
 * Returns a schema of an object with exactly these members. A misspelt member
 * must not be ignored, since the question would then be weaker.
 *
 * @example
 * ```ts
 * import { readAs, strictObject } from "@sig/api/internal/schemas";
 * import { SigError } from "@sig/core";
 * import { assertThrows } from "@std/assert";
 * import { z } from "zod";
 *
 * const REVOKE = strictObject({ relationship_id: z.string() });
 * assertThrows(
 *   () => readAs(REVOKE, { relationship_id: "a", relationship_it: "b" }),
 *   SigError,
 *   'did you mean "relationship_id"?',
 * );
 * ```
 *
 * @param alsoKnown Further names to suggest for a misspelt member.
 */
export function strictObject<S extends z.core.$ZodLooseShape>(
  shape: S,
  alsoKnown: readonly string[] = [],
): z.ZodObject<z.core.util.Writeable<S>, z.core.$strict> {
  const known = [...Object.keys(shape), ...alsoKnown];
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.slice(0, MAX_UNKNOWN)
          .map((name) => describeUnknown(shortName(name), known)).join("\n")
        : undefined,
  });
}

function describeUnknown(name: string, known: readonly string[]): string {
  const meant = suggest(name, known);
  const end = meant === undefined ? "" : `; did you mean ${quote(meant)}?`;
  return `there is no member ${quote(name)}${end}`;
}

/**
 * Returns a check that exactly one of these members is present.
 *
 * @param isRequired Whether one must be present (default: true).
 */
export function oneOf(
  names: readonly string[],
  isRequired = true,
): z.core.$ZodCheck<object> {
  const list = names.join(", ");
  return z.superRefine<object>((value, ctx) => {
    const given = names.filter((name) =>
      Reflect.get(value, name) !== undefined
    );
    if (given.length === 0 && isRequired) {
      const message = `one of ${list} is required`;
      ctx.addIssue({ code: "custom", message, params: { isMissing: true } });
    }
    for (const name of given.slice(1)) {
      const message = `only one of ${list} may be given`;
      ctx.addIssue({ code: "custom", message, path: [name] });
    }
    // Runs even if members are invalid, but only for an object.
  }, { when: ({ value }) => isObject(value) });
}

/**
 * Returns a check; `explain` returns the fault, or `undefined` for a valid
 * value.
 */
export function requires<T>(
  explain: (value: T) => string | undefined,
): z.core.$ZodCheck<T> {
  return z.superRefine<T>((value, ctx) => {
    const why = explain(value);
    if (why !== undefined) ctx.addIssue(why);
  });
}

/**
 * Returns a function for `transform` that calls `parse` and keeps the
 * `SigError` that it throws.
 */
export function parsed<V, T>(
  parse: (value: V) => T,
): (value: V, ctx: z.core.$RefinementCtx) => T {
  return (value, ctx) => {
    try {
      return parse(value);
    } catch (error) {
      if (!isSigError(error)) throw error;
      return refuse(ctx, error);
    }
  };
}

/** Rejects a value in `transform`. */
export function refuse(
  ctx: z.core.$RefinementCtx,
  why: string | SigError,
): never {
  ctx.addIssue(
    typeof why === "string"
      ? why
      : { code: "custom", message: why.message, params: { error: why } },
  );
  return z.NEVER;
}

/** Returns a schema of a whole number within bounds. */
export function integer(minimum: number, maximum: number): z.ZodNumber {
  const error = `it must be an integer from ${minimum} to ${maximum}`;
  return z.number(error).refine(
    (value) => Number.isInteger(value) && value >= minimum && value <= maximum,
    error,
  ).meta({ type: "integer", minimum, maximum });
}

/**
 * Returns a schema of a list with a limited number of items. The number is
 * checked before the items.
 *
 * @param tooFew Reported instead of the usual fault.
 */
export function list<T>(
  item: z.ZodType<T>,
  minItems: number,
  maxItems: number,
  tooFew?: SigError,
): z.ZodType<T[]> {
  return z.preprocess((value, ctx) => {
    if (!Array.isArray(value)) return value;
    if (value.length < minItems && tooFew) return refuse(ctx, tooFew);
    if (value.length < minItems || value.length > maxItems) {
      return refuse(ctx, `it must have ${minItems} to ${maxItems} items`);
    }
    return value;
  }, z.array(item)).meta({ minItems, maxItems });
}

/** A check that a list has no repeated item. */
export const eachOnce: z.core.$ZodCheck<readonly unknown[]> = z.superRefine(
  (items: readonly unknown[], ctx) => {
    const seen = new Set();
    for (const [i, item] of items.entries()) {
      const message = "it is a duplicate";
      if (seen.has(item)) ctx.addIssue({ code: "custom", message, path: [i] });
      seen.add(item);
    }
  },
  // Runs even if some items are invalid.
  { when: ({ value }) => Array.isArray(value) },
);

/** The format of an instant, as far as a pattern can describe it. */
export const INSTANT_PATTERN =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$";

/** An instant (docs/protocol.md §3). */
export const instant: z.ZodType<Timepoint> = z.string().transform(
  (value, ctx) =>
    Timepoint.parse(value) ?? refuse(
      ctx,
      "it must be RFC 3339 UTC, such as 2026-01-31T09:00:00Z, without an offset",
    ),
).meta({ format: "date-time", pattern: INSTANT_PATTERN });
