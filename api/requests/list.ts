/** Schemas of lists. @module */

import type { Faults } from "./faults.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** What {@linkcode list} is told. */
export interface ListRules<T> {
  /** Each item. */
  readonly item: Schema<T>;
  /** Items at least. */
  readonly minItems: number;
  /** Items at most. */
  readonly maxItems: number;
  /** Notes that there are too few; a plain fault unless told. */
  readonly noteTooFew?: (pointer: string, faults: Faults) => void;
  /** Further keywords, such as a description. */
  readonly keywords?: JsonSchema;
}

/** A list of between so many items of one kind. */
export function list<T>(rules: ListRules<T>): Schema<readonly T[]> {
  const { item, minItems, maxItems } = rules;
  return {
    json: {
      type: "array",
      ...rules.keywords,
      items: item.json,
      minItems,
      maxItems,
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
      return value.map((each, i) =>
        item.read(each, `${pointer}/${i}`, faults)
      ) as T[];
    },
  };
}
