/** Schemas of objects. @module */

import { escapePointer, isObject, quote, suggest } from "@sig/core/internal";
import type { Faults } from "./faults.ts";
import type { JsonSchema, Schema } from "./schema.ts";

/** Characters of an unknown name that an error repeats. */
const MAX_NAME_LENGTH = 80;

/** Options of {@linkcode object}. */
export interface ObjectRules<T> {
  /** The members that there are. */
  readonly members: {
    readonly [K in keyof T]-?: Schema<Exclude<T[K], undefined>>;
  };
  /** Those that must be there. */
  readonly required?: readonly (keyof T & string)[];
  /** Exactly one of these must be there. */
  readonly exactlyOne?: readonly (keyof T & string)[];
  /** Members that are not among `members`; (default: refused). */
  readonly unknown?: "ignored";
  /** Further words that a misspelt member may have meant. */
  readonly alsoKnown?: readonly string[];
  /** Further keywords, such as a description. */
  readonly keywords?: JsonSchema;
}

/**
 * An object with these members and no others, unless those are ignored. A member that is
 * `undefined` is absent, as JSON can't say it.
 *
 * @example A misspelt member does not pass
 * ```ts
 * import { object, readAs, text } from "@sig/api/requests";
 * import { SigError } from "@sig/core";
 * import { assertThrows } from "@std/assert";
 *
 * const REVOKE = object<{ readonly relationship_id: string }>({
 *   members: { relationship_id: text() },
 *   required: ["relationship_id"],
 * });
 * assertThrows(
 *   () => readAs(REVOKE, { relationship_id: "a", relationship_it: "b" }),
 *   SigError,
 *   'did you mean "relationship_id"?',
 * );
 * ```
 */
export function object<T>(rules: ObjectRules<T>): Schema<T> {
  const members = new Map(
    Object.entries(rules.members) as [string, Schema<unknown>][],
  );
  const required: readonly string[] = rules.required ?? [];
  const exactlyOne: readonly string[] = rules.exactlyOne ?? [];
  const known = [...members.keys(), ...rules.alsoKnown ?? []];
  return {
    json: toJson(members, rules),
    read(value, pointer, faults) {
      if (!isObject(value)) {
        return faults.note(pointer, "invalid_field", "it must be an object");
      }
      const names = Object.keys(value);
      if (rules.unknown !== "ignored") {
        for (const name of names) {
          if (members.has(name)) continue;
          noteUnknown(name, pointer, known, faults);
          if (faults.full) return undefined;
        }
      }
      const read: { [name: string]: unknown } = {};
      for (const name of names) {
        const member = members.get(name);
        if (member === undefined || value[name] === undefined) continue;
        read[name] = member.read(value[name], `${pointer}/${name}`, faults);
        if (faults.full) return undefined;
      }
      for (const name of required) {
        if (!Object.hasOwn(read, name)) {
          faults.note(`${pointer}/${name}`, "missing_field", "it is required");
        }
      }
      if (exactlyOne.length > 0) judgeMember(exactlyOne, read, pointer, faults);
      return read as T;
    },
  };
}

function toJson<T>(
  members: ReadonlyMap<string, Schema<unknown>>,
  rules: ObjectRules<T>,
): JsonSchema {
  const { required, exactlyOne } = rules;
  const properties = Object.fromEntries(
    Array.from(members, ([name, { json }]) => [name, json]),
  );
  return {
    type: "object",
    ...rules.keywords,
    properties,
    ...(required ? { required } : {}),
    ...(exactlyOne
      ? { oneOf: exactlyOne.map((name) => ({ required: [name] })) }
      : {}),
    additionalProperties: rules.unknown === "ignored",
  };
}

/** A misspelt member must not pass: it would ask a weaker question. */
function noteUnknown(
  name: string,
  pointer: string,
  known: readonly string[],
  faults: Faults,
): void {
  // A cut must not leave half a character, which is no JSON.
  const short = name.slice(0, MAX_NAME_LENGTH).toWellFormed();
  const meant = suggest(short, known);
  faults.note(
    `${pointer}/${escapePointer(short)}`,
    "invalid_field",
    meant === undefined
      ? `there is no member ${quote(name)}`
      : `there is no member ${quote(name)}; did you mean ${quote(meant)}?`,
  );
}

function judgeMember(
  names: readonly string[],
  read: { readonly [name: string]: unknown },
  pointer: string,
  faults: Faults,
): void {
  const given = names.filter((name) => Object.hasOwn(read, name));
  if (given.length === 1) return;
  const list = names.join(", ");
  if (given.length === 0) {
    faults.note(pointer, "missing_field", `one of ${list} is required`);
  }
  for (const name of given.slice(1)) {
    faults.note(
      `${pointer}/${name}`,
      "invalid_field",
      `only one of ${list} may be given`,
    );
  }
}
