/** Fetches a document from an untrusted host (docs/protocol.md §10). @module */

import { joinBytes } from "@sig/core/internal";
import {
  type FetchLimits,
  type FetchPolicy,
  type GuardedFetchOptions,
  type OpenedDocument,
  requireFetchOptions,
} from "./fetch_options.ts";
import { judgeResponse, tooLarge } from "./response_rules.ts";
import { fetchError, toFetchError } from "./fetch_error.ts";
import { createNetworkBudget, type NetworkBudget } from "./network_budget.ts";
import {
  CannotPin,
  createPinnedTransport,
  loadNodeBuiltins,
  type NodeBuiltins,
} from "./pinned_transport.ts";
import {
  createPlainTransport,
  type RequestMethod,
  type ResponseHead,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "./transport.ts";
import {
  type Resolve,
  resolveAddresses,
  vetUrl,
  type VetUrlOptions,
} from "./require_allowed_url.ts";

/**
 * Fetches one document over https from an untrusted URL: only public addresses,
 * connected to exactly as they were vetted; no redirects, no proxy of the
 * environment, no cookies, no decompression; limits on bytes and on time. (docs/protocol.md §8, §10)
 *
 * Iterating `bytes` throws when the body breaks off, is too large or too slow.
 * The time that the loop itself takes does not count.
 *
 * In browsers, in Cloudflare Workers and with `options.fetch`, the platform
 * connects: a name that was vetted may lead elsewhere by then, and a body that
 * was cut is reported only where the platform reports it.
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
): Promise<OpenedDocument> {
  const headers = requestHeaders(options);
  const sent = await sendGuarded(input, options, { headers });
  const { response, url } = sent;
  try {
    const head = judgeResponse(response, url, options);
    if (head.unchanged) await response.close();
    // What a platform decoded has another length than the one that was sent;
    // of a range nothing is encoded.
    const isCounted = response.isVerbatim || response.status !== 200;
    const length = isCounted ? head.length : undefined;
    const bytes = createCountedBody(sent, options, length);
    return { ...head, length, bytes, cancel: () => response.close() };
  } catch (error) {
    await response.close();
    throw error;
  }
}

function requestHeaders(
  { accept = "application/json", conditions = {} }: GuardedFetchOptions,
): Record<string, string> {
  const { ifNoneMatch: tag, range } = conditions;
  return {
    accept,
    // Nothing is decoded, so nothing may come encoded.
    "accept-encoding": "identity",
    ...(tag === undefined ? {} : { "if-none-match": tag }),
    ...(range === undefined ? {} : { range: `bytes=${range.from}-` }),
  };
}

/** What is asked. */
type GuardedRequest =
  & Pick<TransportRequest, "method" | "headers" | "body">
  & Pick<VetUrlOptions, "allowHttp">;

/** A response whose head has arrived and is not checked yet. */
interface GuardedResponse {
  /** The response; the caller closes it. */
  readonly response: TransportResponse;
  /** The URL, as it was parsed. */
  readonly url: URL;
  /** How much of it may be had. */
  readonly limits: FetchLimits;
  /** The time that is left. */
  readonly budget: NetworkBudget;
  /** Turns what reading the body throws into a `SigError`. */
  fail(error: unknown): unknown;
}

/**
 * Vets a URL, resolves its host, and asks exactly the addresses that were
 * vetted. (docs/protocol.md §10)
 *
 * @throws {SigError} and others as `guardedFetch`, up to the answer's head.
 */
async function sendGuarded(
  input: string | URL,
  options: GuardedFetchOptions,
  { allowHttp, ...request }: GuardedRequest,
): Promise<GuardedResponse> {
  const limits = requireFetchOptions(options);
  const { allowPrivate = false } = options;
  const { literal, url } = vetUrl(input, { allowHttp, allowPrivate });
  const budget = createNetworkBudget(limits.totalTimeoutMs, options.signal);
  const node = options.fetch === undefined ? loadNodeBuiltins() : undefined;
  const fail = (error: unknown) =>
    toFetchError(error, url, limits, options.signal);
  try {
    const resolve = options.resolve ?? systemResolver(node);
    const addresses = literal !== undefined
      ? [literal]
      : resolve === undefined
      ? []
      : await budget.wait(
        resolveAddresses(url, resolve, allowPrivate),
        limits.connectTimeoutMs,
      );
    const response = await createTransport(node, options)({
      ...request,
      url,
      addresses,
      connectTimeoutMs: limits.connectTimeoutMs - budget.spentMs,
      caCertificates: options.caCertificates,
    }, budget);
    return { response, url, limits, budget, fail };
  } catch (error) {
    throw fail(error);
  }
}

/** Options of {@linkcode postText}. */
export interface PostTextOptions extends FetchPolicy {
  /** Bytes of the answer, at most. */
  readonly maxBytes: number;
}

/**
 * Posts a text to a URL that an operator has named; the answer's status, whatever
 * it is, and its body as text. The guards are those of every fetch.
 *
 * @throws {SigError} as `guardedFetch`, without `fetch_status`.
 */
export async function postText(
  url: string,
  text: string,
  policy: PostTextOptions,
): Promise<{ readonly status: number; readonly text: string }> {
  const options = { ...policy, tooLargeCode: "document_too_large" } as const;
  const sent = await sendGuarded(url, options, {
    method: "POST",
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: new TextEncoder().encode(text),
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of createCountedBody(sent, options, undefined)) {
    chunks.push(chunk);
  }
  const { status } = sent.response;
  return { status, text: new TextDecoder().decode(joinBytes(chunks)) };
}

/** The operating system's resolver: it knows the hosts file and the order. */
function systemResolver(node: NodeBuiltins | undefined): Resolve | undefined {
  if (node === undefined) return undefined;
  return async (host) => {
    const answers = await node.dns.promises.lookup(host, { all: true });
    return answers.map(({ address }) => address);
  };
}

/** Uses the platform's fetch where a connection of our own is not possible. */
function createTransport(
  node: NodeBuiltins | undefined,
  { fetch = (request) => globalThis.fetch(request) }: GuardedFetchOptions,
): Transport {
  const plain = createPlainTransport(fetch);
  if (node === undefined) return plain;
  const pinned = createPinnedTransport(node);
  return async (request, budget) => {
    try {
      return await pinned(request, budget);
    } catch (error) {
      if (!(error instanceof CannotPin)) throw error;
      return await plain(request, budget);
    }
  };
}

/** The chunks of a body, to be iterated once. */
function createCountedBody(
  { response, url, limits: { maxBytes }, budget, fail }: GuardedResponse,
  { tooLargeCode }: GuardedFetchOptions,
  expectedLength: number | undefined,
): AsyncIterable<Uint8Array> {
  let isTaken = false;
  return {
    [Symbol.asyncIterator]() {
      if (isTaken) throw new TypeError("Cannot read a body twice");
      isTaken = true;
      return readChunks();
    },
  };

  async function* readChunks(): AsyncGenerator<Uint8Array> {
    let length = 0;
    try {
      while (expectedLength !== 0) {
        const chunk = await budget.wait(response.read());
        if (chunk === undefined) break;
        length += chunk.length;
        if (length > maxBytes) throw tooLarge(url, maxBytes, tooLargeCode);
        if (chunk.length > 0) yield chunk;
      }
      if (expectedLength !== undefined && length !== expectedLength) {
        const why = `the body has ${length} of ${expectedLength} bytes`;
        throw fetchError("fetch_failed", url, why, { kind: "closed" });
      }
    } catch (error) {
      throw fail(error);
    } finally {
      await response.close();
    }
  }
}

/** Options of {@linkcode probeUrl}. */
export interface ProbeOptions extends FetchPolicy {
  /** Default: GET. */
  readonly method?: RequestMethod;
  /** Header fields by lower-case name, without `host`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Allow `http:` to public addresses too, to see what it answers. */
  readonly allowHttp?: boolean;
}

/**
 * Asks once and answers with the head of whatever comes, errors and redirects
 * too. The guards are those of every fetch: no private addresses unless
 * allowed, no redirect is followed, time limits.
 *
 * @example An injected server
 * ```ts
 * import { probeUrl } from "./guarded_fetch.ts";
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
): Promise<ResponseHead> {
  const { response } = await sendGuarded(url, {
    ...policy,
    maxBytes: 0,
    tooLargeCode: "document_too_large",
  }, { allowHttp, headers, method });
  const { certificateUntil, header, status } = response;
  await response.close();
  return { status, header, certificateUntil };
}
