/**
 * How both HTTP servers of SIG read a request's body: strictly, with every fault
 * named at once by its place, and "did you mean …?" for a misspelt member. The
 * schemas are zod's; these are the parts that it has no words of ours for.
 *
 * @example A body of two members
 * ```ts
 * import { integer, readAs, strictObject } from "@sig/api/schemas";
 * import { isSigError } from "@sig/core";
 * import { assert, assertEquals } from "@std/assert";
 * import { z } from "zod";
 *
 * const TICKET = strictObject({
 *   name: z.string().max(80),
 *   seats: integer(1, 9).optional(),
 * });
 *
 * assertEquals(readAs(TICKET, { name: "Alice" }), { name: "Alice" });
 * try {
 *   readAs(TICKET, { seats: 10 });
 * } catch (error) {
 *   assert(isSigError(error, "invalid_request"));
 *   assertEquals(error.context.errors, [
 *     { pointer: "/name", code: "missing_field", detail: "it is required" },
 *     {
 *       pointer: "/seats",
 *       code: "invalid_field",
 *       detail: "it must be an integer from 1 to 9",
 *     },
 *   ]);
 * }
 * ```
 *
 * @module
 */
export {
  eachOnce,
  integer,
  list,
  oneOf,
  requires,
  strictObject,
} from "./parts.ts";
export { readAs } from "./read_as.ts";
