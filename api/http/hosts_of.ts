/** By which names a request asks. @module */

import { isHost } from "./is_host.ts";
import { splitUrl } from "./split_url.ts";

/**
 * The hosts of a request: that of its URL, and its header where that says
 * another one, since an absolute target in the request line replaces it (RFC
 * 9112 §3.2.2). `undefined` if one of them is no host: the request's URL must
 * then not be read at all, and the answer is 400 (§3.2).
 *
 * @example
 * ```ts
 * import { hostsOf } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * const ask = (host: string) =>
 *   new Request("http://127.0.0.1/", { headers: { host } });
 * assertEquals(hostsOf(ask("a.example")), ["127.0.0.1", "a.example"]);
 * assertEquals(hostsOf(ask("a.example/docs#")), undefined);
 * ```
 */
export function hostsOf(request: Request): readonly string[] | undefined {
  const header = request.headers.get("host");
  const { host } = splitUrl(request.url);
  const hosts = header === null || header === host ? [host] : [host, header];
  return hosts.every(isHost) ? hosts : undefined;
}
