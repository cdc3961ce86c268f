/** How a server answers, whatever it answers: for who looks after one. @module */

import type { FetchPolicy } from "./fetch_options.ts";
import { sendGuarded } from "./guarded_fetch.ts";
import type { RequestMethod } from "./transport.ts";

/** Options of {@linkcode probeUrl}. */
export interface ProbeOptions extends FetchPolicy {
  /** Default: GET. */
  readonly method?: RequestMethod;
  /** Header fields by lower-case name, without `host`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Allow `http:` to public addresses too, to see what it answers. */
  readonly allowHttp?: boolean;
}

/** The head of an answer; its body was not read. */
export interface Probed {
  /** Status code; 0 for a redirect that a browser hides. */
  readonly status: number;
  /** A header field by its lower-case name, or null. */
  header(name: string): string | null;
  /** When the server's certificate ends, if the platform says so. */
  readonly certificateUntil?: Date;
}

/**
 * Asks once and answers with the head of whatever comes, errors and redirects
 * too. The guards are those of every fetch: no private addresses unless
 * allowed, no redirect is followed, time limits.
 *
 * @example An injected server
 * ```ts
 * import { probeUrl } from "./probe_url.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const { status, header } = await probeUrl("https://acme.example/none", {
 *   fetch: () => Promise.resolve(new Response(null, { status: 404 })),
 * });
 * assertEquals([status, header("etag")], [404, null]);
 * ```
 *
 * @throws {SigError} `insecure_url`, `invalid_identifier`,
 * `address_not_allowed` before anything is connected to; `fetch_timeout`,
 * `fetch_failed` (`context.kind`).
 */
export async function probeUrl(
  url: string,
  { allowHttp = false, headers = {}, method = "GET", ...policy }: ProbeOptions =
    {},
): Promise<Probed> {
  const { response } = await sendGuarded(url, {
    ...policy,
    maxBytes: 0,
    tooLargeCode: "document_too_large",
  }, { allowHttp, headers, method });
  const { certificateUntil, header, status } = response;
  await response.close();
  return {
    status,
    header,
    ...(certificateUntil === undefined ? {} : { certificateUntil }),
  };
}
