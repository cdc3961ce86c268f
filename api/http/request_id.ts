/** The name of a request, for its log line and its errors. @module */

/**
 * A legal header value (RFC 9110 §5.5), as the bytes that came: visible ASCII,
 * bytes from 0x80 on, spaces and tabs within. Nothing in it ends a header.
 */
const REQUEST_ID =
  /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,1022}[\x21-\x7e\x80-\xff])?$/;

/**
 * The client's `X-Request-ID` if it can be one, else a fresh one: it must be
 * sent back as it came (AuthZEN 1.0 §10.1.4), so that the client knows it again.
 *
 * @example
 * ```ts
 * import { requestIdOf } from "./request_id.ts";
 * import { assertEquals, assertNotEquals } from "@std/assert";
 *
 * assertEquals(requestIdOf(new Headers({ "x-request-id": "r1" })), "r1");
 * const long = "r".repeat(1_025);
 * assertNotEquals(requestIdOf(new Headers({ "x-request-id": long })), long);
 * ```
 */
export function requestIdOf(headers: Headers): string {
  // The first look at a request's headers, and `has` reads all of them at once;
  // a `get` before it would fetch its own from the server, as would the next.
  const given = headers.has("x-request-id") ? headers.get("x-request-id")! : "";
  return REQUEST_ID.test(given) ? given : crypto.randomUUID();
}
