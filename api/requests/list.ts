/** Schemas of lists. @module */

import type { Faults } from "./faults.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** Options of {@linkcode list}. */
export interface ListRules<T> {
  /** Each item. */
  readonly item: Schema<T>;
  /** Items at least. */
  readonly minItems: number;
  /** Items at most. */
  readonly maxItems: number;
  /** Whether an item may stand only once; items are then compared by `===`. */
  readonly unique?: true;
  /** Notes that there are too few; (default: a plain fault). */
  readonly noteTooFew?: (pointer: string, faults: Faults) => void;
  /** Further keywords, such as a description. */
  readonly keywords?: JsonSchema;
}

/** A list of between so many items of one kind. */
export function list<T>(rules: ListRules<T>): Schema<readonly T[]> {
  const { item, minItems, maxItems, unique = false } = rules;
  return {
    json: {
      type: "array",
      ...rules.keywords,
      items: item.json,
      minItems,
      maxItems,
      ...(unique ? { uniqueItems: true } : {}),
    },
    read(value, pointer, faults) {
      if (!Array.isArray(value)) {
        return faults.note(pointer, "invalid_field", "it must be an array");
      }
      if (value.length < minItems && rules.noteTooFew) {
        rules.noteTooFew(pointer, faults);
        return undefined;
      }
      if (value.length < minItems || value.length > maxItems) {
        return faults.note(
          pointer,
          "invalid_field",
          `it must have ${minItems} to ${maxItems} items`,
        );
      }
      const read = value.map((each, i) =>
        item.read(each, `${pointer}/${i}`, faults)
      ) as T[];
      if (unique) noteTwins(read, pointer, faults);
      return read;
    },
  };
}

function noteTwins(
  items: readonly unknown[],
  pointer: string,
  faults: Faults,
): void {
  const seen = new Set<unknown>();
  for (const [i, each] of items.entries()) {
    // What was refused already is undefined.
    if (each !== undefined && seen.has(each)) {
      faults.note(
        `${pointer}/${i}`,
        "invalid_field",
        "it must not stand twice",
      );
    }
    seen.add(each);
  }
}
