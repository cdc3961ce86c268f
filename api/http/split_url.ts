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
  const query = url.indexOf("?", path);
  const fragment = url.indexOf("#", path);
  const end = Math.min(
    query < 0 ? url.length : query,
    fragment < 0 ? url.length : fragment,
  );
  return { host: url.slice(start, path), path: url.slice(path, end) };
}
