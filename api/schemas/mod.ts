/**
 * Strict parsing of request bodies, for both HTTP servers of SIG: it reports
 * all faults with their JSON Pointers, and "did you mean …?" for a misspelt
 * member. The schemas are those of zod; this module adds what zod lacks.
 *
 * @example A body of two members
 * ```ts
 * import { integer, readAs, strictObject } from "@sig/api/internal/schemas";
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
  readAs,
  requires,
  strictObject,
} from "./strict.ts";
