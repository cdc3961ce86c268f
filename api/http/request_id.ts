/** The name of a request, for its log line and its errors. @module */

/** Printable ASCII: nothing that breaks a header or a log line. */
const REQUEST_ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * The client's `X-Request-ID` if it can be one, else a fresh one.
 *
 * @example
 * ```ts
 * import { requestIdOf } from "./request_id.ts";
 * import { assertEquals, assertNotEquals } from "@std/assert";
 *
 * assertEquals(requestIdOf(new Headers({ "x-request-id": "r1" })), "r1");
 * assertNotEquals(requestIdOf(new Headers({ "x-request-id": "é" })), "é");
 * ```
 */
export function requestIdOf(headers: Headers): string {
  const given = headers.get("x-request-id");
  return given !== null && REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
