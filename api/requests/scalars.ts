/** Schemas of single values. @module */

import { isSigError } from "@sig/core";
import { Timepoint } from "@sig/core/internal";
import type { JsonSchema, Schema } from "./schema.ts";

/**
 * A string, in the form that `parse` gives it: that throws a `SigError` for what
 * it refuses, or notes what must be the case. At most `keywords.maxLength`
 * characters, where that is given.
 */
export function parsedText<T>(
  keywords: JsonSchema & { readonly maxLength?: number },
  parse: (text: string, note: (why: string) => undefined) => T | undefined,
): Schema<T> {
  const { maxLength = Infinity } = keywords;
  return {
    json: { type: "string", ...keywords },
    read(value, pointer, faults) {
      const note = (why: string) => faults.note(pointer, "invalid_field", why);
      if (typeof value !== "string") return note("it must be a string");
      if (value.length > maxLength) {
        return note(`it must have at most ${maxLength} characters`);
      }
      try {
        return parse(value, note);
      } catch (error) {
        if (!isSigError(error)) throw error;
        return faults.noteError(pointer, error);
      }
    },
  };
}

/**
 * A string of at most `keywords.maxLength` characters, where that is given.
 * `check` throws a `SigError` for what it refuses, or returns what must be the
 * case.
 */
export function text(
  keywords: JsonSchema & { readonly maxLength?: number } = {},
  check?: (text: string) => string | undefined | void,
): Schema<string> {
  return parsedText(keywords, (value, note) => {
    const why = check?.(value);
    return why ? note(why) : value;
  });
}

/** A string that is not empty. */
export function nonEmptyText(keywords: JsonSchema): Schema<string> {
  return text(
    { minLength: 1, ...keywords },
    (value) => value === "" ? "it must not be empty" : undefined,
  );
}

/** How an instant is spelled, as far as a pattern can say it. */
export const INSTANT_PATTERN =
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$";

/** An instant (docs/protocol.md §3). */
export function instant(keywords: JsonSchema): Schema<Timepoint> {
  return parsedText(
    { format: "date-time", pattern: INSTANT_PATTERN, ...keywords },
    (value, note) =>
      Timepoint.parse(value) ?? note(
        "it must be RFC 3339 UTC, such as 2026-01-31T09:00:00Z, without an offset",
      ),
  );
}

/** One of these strings. */
export function oneOf<T extends string>(
  words: readonly T[],
  keywords: JsonSchema,
): Schema<T> {
  return text(
    { enum: words, ...keywords },
    (value) =>
      (words as readonly string[]).includes(value)
        ? undefined
        : `it must be one of ${words.join(", ")}`,
  ) as Schema<T>;
}

/** An integer within bounds. */
export function integer(
  minimum: number,
  maximum: number,
  keywords: JsonSchema = {},
): Schema<number> {
  return {
    json: { type: "integer", minimum, maximum, ...keywords },
    read(value, pointer, faults) {
      if (
        typeof value === "number" && Number.isInteger(value) &&
        value >= minimum && value <= maximum
      ) return value;
      return faults.note(
        pointer,
        "invalid_field",
        `it must be an integer from ${minimum} to ${maximum}`,
      );
    },
  };
}

/** True or false. */
export function flag(keywords: JsonSchema): Schema<boolean> {
  return {
    json: { type: "boolean", ...keywords },
    read: (value, pointer, faults) =>
      typeof value === "boolean"
        ? value
        : faults.note(pointer, "invalid_field", "it must be true or false"),
  };
}

/** Any JSON value: somebody else judges it. */
export function anything(keywords: JsonSchema = {}): Schema<unknown> {
  return { json: keywords, read: (value) => value };
}
