/** Getting a document from a host that nobody vouches for. @module */

import { createCountedBody } from "./counted_body.ts";
import type { ContentRange, GuardedFetchOptions } from "./fetch_options.ts";
import { judgeResponse } from "./response_rules.ts";
import { sendGuarded } from "./send_guarded.ts";

/** A document on its way: iterate `body`, or cancel. */
export interface FetchedBody {
  /** 206 and 304 only when they were asked for. */
  readonly status: 200 | 206 | 304;
  /** Lower case, without parameters; the server's text. */
  readonly mediaType: string | null;
  /** A proper entity tag, or null. */
  readonly etag: string | null;
  /** Of a 206: which bytes these are. */
  readonly contentRange?: ContentRange;
  /** Bytes of the body, when the server told and nothing was decoded. */
  readonly length?: number;
  /**
   * The bytes, at most `maxBytes`, to be iterated once; empty with 304. Throws
   * when the body breaks off, is too large or too slow. The time that the loop
   * itself takes does not count. Leaving the loop closes the connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** The URL, as it was parsed. */
  readonly url: string;
  /** Closes the connection; may be called at any time and twice. */
  cancel(): Promise<void>;
}

/**
 * Fetches one document over https with the guards that fetching at a stranger's
 * word needs: only public addresses, connected to exactly as they were vetted;
 * no redirects, no proxy of the environment, no cookies, no decompression;
 * limits on bytes and on time. (docs/protocol.md §8, §10)
 *
 * In browsers, in Cloudflare Workers and with `options.fetch`, the platform
 * connects: a name that was vetted may lead elsewhere by then, and a body that
 * was cut is told only where the platform tells it.
 *
 * @example A closed door
 * ```ts
 * import { guardedFetch } from "./guarded_fetch.ts";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * await assertRejects(
 *   () =>
 *     guardedFetch("https://0x7f.1/.well-known/sig.json", {
 *       maxBytes: 16_384,
 *       tooLargeCode: "document_too_large",
 *     }),
 *   SigError,
 *   'Cannot fetch from "127.0.0.1": the address is not a public one',
 * );
 * ```
 *
 * @throws {SigError} `insecure_url`, `invalid_identifier`,
 * `address_not_allowed` before anything is connected to; `fetch_redirected`,
 * `fetch_status` (`context.status`), `fetch_media_type`, `fetch_timeout`,
 * `fetch_failed` (`context.kind`), and `options.tooLargeCode`.
 * @throws {RangeError | TypeError} for options that make no sense.
 */
export async function guardedFetch(
  input: string | URL,
  options: GuardedFetchOptions,
): Promise<FetchedBody> {
  const { budget, fail, limits, response, url } = await sendGuarded(
    input,
    options,
    { headers: requestHeaders(options) },
  );
  try {
    const head = judgeResponse(response, url, options);
    if (head.status === 304) await response.close();
    const { length, ...told } = head;
    // What a platform decoded has another length than the one that was sent;
    // of a range nothing is encoded.
    const isCounted = response.isVerbatim || head.status !== 200;
    const expected = length === undefined || !isCounted
      ? {}
      : { expectedLength: length };
    return {
      ...told,
      ...(expected.expectedLength === undefined
        ? {}
        : { length: expected.expectedLength }),
      url: url.href,
      body: createCountedBody({
        response,
        url,
        maxBytes: limits.maxBytes,
        tooLargeCode: options.tooLargeCode,
        ...expected,
        budget,
        fail,
      }),
      cancel: () => response.close(),
    };
  } catch (error) {
    await response.close();
    throw error;
  }
}

function requestHeaders(
  { accept, headers }: GuardedFetchOptions,
): Record<string, string> {
  return {
    accept: accept ?? "application/json",
    // Nothing is decoded, so nothing may come encoded.
    "accept-encoding": "identity",
    ...(headers?.ifNoneMatch === undefined
      ? {}
      : { "if-none-match": headers.ifNoneMatch }),
    ...(headers?.range === undefined
      ? {}
      : { range: `bytes=${headers.range.from}-` }),
  };
}
