/**
 * The operator's file of names, which the command line and the OpenID Provider
 * both read.
 *
 * @example
 * ```ts
 * import { readNames } from "@sig/web/names";
 * import { assertEquals } from "@std/assert";
 *
 * const file = new TextEncoder().encode("subject,name\ndid:web:ada.example,Ada\n");
 * assertEquals(readNames(file, "names.csv").get("did:web:ada.example")?.name, "Ada");
 * ```
 *
 * @module
 */
export { type CsvRow, readCsv } from "./read_csv.ts";
export { MAX_NAMES_BYTES, type PersonName, readNames } from "./read_names.ts";
