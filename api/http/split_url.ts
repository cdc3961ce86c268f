/** The parts of a request's URL that a service looks at. @module */

/**
 * Authority and path of an absolute http URL; the query is left out. A `URL`
 * would cost more than all the rest of a refusal.
 *
 * @example
 * ```ts
 * import { splitUrl } from "./split_url.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(splitUrl("http://127.0.0.1:80/a/b?c"), {
 *   host: "127.0.0.1:80",
 *   path: "/a/b",
 * });
 * ```
 */
export function splitUrl(
  url: string,
): { readonly host: string; readonly path: string } {
  const start = url.indexOf("//") + 2;
  const slash = url.indexOf("/", start);
  const path = slash < 0 ? url.length : slash;
  const end = url.slice(path).search(/[?#]/);
  return {
    host: url.slice(start, path),
    path: end < 0 ? url.slice(path) : url.slice(path, path + end),
  };
}
