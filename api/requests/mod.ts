/**
 * How both HTTP servers of SIG read a request's body: strictly, with every fault
 * named at once by its place, and "did you mean …?" for a misspelt member. One
 * description of a value reads it and documents it.
 *
 * @example A body of two members
 * ```ts
 * import { integer, object, readAs, text } from "@sig/api/requests";
 * import { isSigError } from "@sig/core";
 * import { assert, assertEquals } from "@std/assert";
 *
 * interface Ticket {
 *   readonly name: string;
 *   readonly seats?: number;
 * }
 * const TICKET = object<Ticket>({
 *   members: { name: text({ maxLength: 80 }), seats: integer(1, 9) },
 *   required: ["name"],
 * });
 *
 * assertEquals(readAs(TICKET, { name: "Alice" }), { name: "Alice" });
 * try {
 *   readAs(TICKET, { seats: 10 });
 * } catch (error) {
 *   assert(isSigError(error, "invalid_request"));
 *   assertEquals(error.context.errors, [
 *     {
 *       pointer: "/seats",
 *       code: "invalid_field",
 *       detail: "it must be an integer from 1 to 9",
 *     },
 *     { pointer: "/name", code: "missing_field", detail: "it is required" },
 *   ]);
 * }
 * ```
 *
 * @module
 */
export { Faults } from "./faults.ts";
export { list, type ListRules } from "./list.ts";
export { object, type ObjectRules } from "./object.ts";
export { readAs } from "./read_as.ts";
export {
  anything,
  flag,
  instant,
  integer,
  nonEmptyText,
  oneOf,
  text,
} from "./scalars.ts";
export {
  Component,
  type JsonSchema,
  later,
  named,
  type Schema,
  type SchemaPart,
} from "./schema.ts";
