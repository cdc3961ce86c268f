/** The parts of a request's URL that a service looks at. @module */

/** Authority and path of an absolute http URL; the query is left out. */
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
