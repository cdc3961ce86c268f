/**
 * Schemas that zod lacks: with this project's messages and the codes of
 * `SigError`.
 *
 * @module
 */

import { isSigError, type SigError } from "@sig/core";
import { isObject, quote, suggest, Timepoint } from "@sig/core/internal";
import { z } from "zod";
import { shortName } from "./read_as.ts";

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
