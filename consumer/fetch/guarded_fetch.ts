/** Fetches a document from an untrusted host (docs/protocol.md §10). @module */

import { joinBytes } from "@sig/core/internal";
import {
  type FetchLimits,
  type FetchPolicy,
  type GuardedFetchOptions,
  type OpenedDocument,
  requireFetchOptions,
} from "./fetch_options.ts";
import { checkResponse, tooLarge } from "./response_rules.ts";
import { fetchError, toFetchError } from "./fetch_error.ts";
import {
  createNetworkBudget,
  createPlainTransport,
  type NetworkBudget,
  type ResponseHead,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "./transport.ts";
import {
  CannotPin,
  createPinnedTransport,
  loadNodeBuiltins,
  type NodeBuiltins,
} from "./pinned_transport.ts";
import {
  requireAllowedUrl,
  type Resolve,
  resolveAddresses,
} from "./require_allowed_url.ts";

/**
 * Fetches one document over https from an untrusted URL. Connects only to
 * public addresses, and exactly to those that were vetted. Follows no
 * redirects, uses no proxy from the environment, sends no cookies, decompresses
 * nothing, and limits bytes and time. (docs/protocol.md §8, §10)
 *
 * Iterating `bytes` throws if the body is truncated, too large or too slow. The
 * time that the caller's loop takes is not counted.
 *
 * In browsers, in Cloudflare Workers and with `options.fetch`, the platform
 * connects: it may resolve a vetted name to another address, and a truncated
 * body is reported only if the platform reports it.
 *
 * @example A refused address
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
 * @throws {RangeError | TypeError} for invalid options.
 */
export async function guardedFetch(
  input: string | URL,
  options: GuardedFetchOptions,
): Promise<OpenedDocument> {
  const headers = requestHeaders(options);
  const sent = await sendGuarded(input, options, { headers });
  const { response, url } = sent;
  try {
    const head = checkResponse(response, url, options);
    if (head.unchanged) await response.close();
    // A platform that decodes the body changes its length. Ranges are never
    // encoded.
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
    // Nothing is decoded here, so the body must not be encoded.
    "accept-encoding": "identity",
    ...(tag === undefined ? {} : { "if-none-match": tag }),
    ...(range === undefined ? {} : { range: `bytes=${range.from}-` }),
  };
}

type GuardedRequest = Pick<TransportRequest, "method" | "headers" | "body">;

/** A response whose head has arrived but is not checked yet. */
interface GuardedResponse {
  /** The response; the caller closes it. */
  readonly response: TransportResponse;
  readonly url: URL;
  readonly limits: FetchLimits;
  readonly budget: NetworkBudget;
  /** Converts an error of reading the body to a `SigError`. */
  fail(error: unknown): unknown;
}

/**
 * Vets a URL, resolves its host, and connects only to the vetted addresses.
 * (docs/protocol.md §10)
 *
 * @throws {SigError} and others as `guardedFetch`, up to the head of the
 * response.
 */
async function sendGuarded(
  input: string | URL,
  options: GuardedFetchOptions,
  request: GuardedRequest,
): Promise<GuardedResponse> {
  const limits = requireFetchOptions(options);
  const { allowPrivate = false } = options;
  const { literal, url } = requireAllowedUrl(input, { allowPrivate });
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

/**
 * Posts a text to a URL that an operator has configured. Returns the status,
 * whatever it is, and the body as text. The guards are those of `guardedFetch`.
 *
 * @throws {SigError} as `guardedFetch`, without `fetch_status`.
 */
export async function postText(
  url: string,
  text: string,
  policy: FetchPolicy & { readonly maxBytes: number },
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

/** Uses the hosts file and the configured order of addresses. */
function systemResolver(node: NodeBuiltins | undefined): Resolve | undefined {
  if (node === undefined) return undefined;
  return async (host) => {
    const answers = await node.dns.promises.lookup(host, { all: true });
    return answers.map(({ address }) => address);
  };
}

/** Uses the platform's fetch if the connection can't be pinned. */
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

function createCountedBody(
  { response, url, limits: { maxBytes }, budget, fail }: GuardedResponse,
  { tooLargeCode }: GuardedFetchOptions,
  expectedLength: number | undefined,
): AsyncIterable<Uint8Array> {
  let isIterated = false;
  return {
    [Symbol.asyncIterator]() {
      if (isIterated) throw new TypeError("Cannot read a body twice");
      isIterated = true;
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
  /** Header fields by lower-case name, without `host`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends one request and returns the head of the response, whatever its status.
 * The guards are those of `guardedFetch`: private addresses are refused unless
 * allowed, redirects are not followed, and time is limited.
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
  { headers = {}, ...policy }: ProbeOptions = {},
): Promise<ResponseHead> {
  const { response } = await sendGuarded(url, {
    ...policy,
    maxBytes: 0,
    tooLargeCode: "document_too_large",
  }, { headers });
  const { certificateUntil, header, status } = response;
  await response.close();
  return { status, header, certificateUntil };
}
