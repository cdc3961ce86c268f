/** What can stand in `Host` (RFC 9112 §3.2). @module */

/** A name or an address, with a port at most: no path, query or user. */
const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._~!$&'()*+,;=%-]+)(?::[0-9]{1,5})?$/i;

/**
 * Whether a text can be a request's host. Any other one would shift where the
 * path of the request's URL begins: with `Host: a/docs#` the route of `/healthz`
 * would be that of `/docs`, behind a proxy that looks at the path.
 *
 * @example
 * ```ts
 * import { isHost } from "./is_host.ts";
 * import { assert } from "@std/assert";
 *
 * assert(isHost("sig.acme.example:8443"));
 * assert(!isHost("a/docs#"));
 * assert(!isHost("a:99999"));
 * ```
 */
export function isHost(text: string): boolean {
  return HOST.test(text) && URL.canParse(`http://${text}/`);
}
