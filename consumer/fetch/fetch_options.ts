/** The options of a guarded fetch. @module */

import { MAX_TIMEOUT_MS } from "./network_budget.ts";

/** How much one fetch may take. */
export interface FetchLimits {
  /** Milliseconds to connect, DNS and TLS included (default: 5,000). */
  readonly connectTimeoutMs: number;
  /** Milliseconds spent waiting for the network, in all (default: 30,000). */
  readonly totalTimeoutMs: number;
  /** Bytes of the body. */
  readonly maxBytes: number;
}

/** Which hosts may be fetched from, and how: the same for every fetch. */
export interface FetchPolicy {
  /** As {@linkcode FetchLimits.connectTimeoutMs}. */
  readonly connectTimeoutMs?: number;
  /** As {@linkcode FetchLimits.totalTimeoutMs}. */
  readonly totalTimeoutMs?: number;
  /**
   * Allow `http:` and private addresses: for tests and closed networks only,
   * since a URL from outside can then reach this machine's own services.
   */
  readonly allowPrivate?: boolean;
  /** Stops the fetch; its reason is what is thrown. */
  readonly signal?: AbortSignal;
  /** Resolves host names, instead of the operating system. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /**
   * Sends the request, instead of our own connection. It chooses the address
   * itself: names are resolved and vetted before only when `resolve` is given.
   * It must reject a body that was cut: what ends without having said so
   * (HTTP/1 without length or chunks) can't be recognised here.
   */
  readonly fetch?: (request: Request) => Promise<Response>;
  /** PEM certificates of authorities to trust instead of the runtime's own. */
  readonly caCertificates?: readonly string[];
}

/**
 * The members of a fetch policy, and no others: for those whose own options
 * hold them among much else.
 *
 * @example
 * ```ts
 * import { fetchPolicyOf } from "@sig/consumer/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const options = { allowPrivate: true, audiences: ["https://shop.example"] };
 * assertEquals(fetchPolicyOf(options), { allowPrivate: true });
 * ```
 */
export function fetchPolicyOf(options: FetchPolicy): FetchPolicy {
  const { connectTimeoutMs, totalTimeoutMs, allowPrivate, signal } = options;
  const { resolve, fetch, caCertificates } = options;
  return Object.fromEntries(
    Object.entries({
      ...{ connectTimeoutMs, totalTimeoutMs, allowPrivate, signal },
      ...{ resolve, fetch, caCertificates },
    }).filter(([, value]) => value !== undefined),
  );
}

/** Options of {@linkcode guardedFetch}. */
export interface GuardedFetchOptions extends FetchPolicy {
  /** As {@linkcode FetchLimits.maxBytes}. */
  readonly maxBytes: number;
  /** The code of a body that is larger. */
  readonly tooLargeCode: "document_too_large" | "feed_too_large";
  /** What to ask beyond the plain document. */
  readonly headers?: FetchConditions;
  /** The `accept` header. */
  readonly accept?: string;
}

/** What to ask beyond the plain document. */
export interface FetchConditions {
  /** An entity tag that we hold: 304 is then an answer. */
  readonly ifNoneMatch?: string;
  /** Only the bytes from here on: 206 is then an answer, and so is 200. */
  readonly range?: { readonly from: number };
}

/** The bytes that a 206 carries: `first` to `last`, inclusive, of `total`. */
export interface ContentRange {
  /** Offset of the first byte. */
  readonly first: number;
  /** Offset of the last byte; always the document's last one. */
  readonly last: number;
  /** Bytes of the whole document. */
  readonly total: number;
}

/** RFC 9110 §8.8.3; anything else could smuggle another header. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

/** Whether a text is an entity tag that can be sent back. */
export function isEntityTag(text: string): boolean {
  return ENTITY_TAG.test(text);
}

/**
 * Checks the numbers, which come from our own callers.
 *
 * @throws {RangeError} for invalid limits and offsets.
 * @throws {TypeError} for a malformed entity tag.
 */
export function requireFetchOptions(
  {
    // The time limits of docs/protocol.md §8.
    connectTimeoutMs = 5_000,
    totalTimeoutMs = 30_000,
    maxBytes,
    headers: { ifNoneMatch, range } = {},
  }: GuardedFetchOptions,
): FetchLimits {
  requireNumber("connectTimeoutMs", connectTimeoutMs, 1, MAX_TIMEOUT_MS);
  requireNumber("totalTimeoutMs", totalTimeoutMs, 1, MAX_TIMEOUT_MS);
  requireNumber("maxBytes", maxBytes, 0);
  if (range !== undefined) requireNumber("range.from", range.from, 0);
  if (ifNoneMatch !== undefined && !isEntityTag(ifNoneMatch)) {
    throw new TypeError("Cannot fetch: ifNoneMatch must be an entity tag");
  }
  return { connectTimeoutMs, totalTimeoutMs, maxBytes };
}

function requireNumber(
  name: string,
  value: number,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): void {
  if (!(value >= min && value <= max)) {
    throw new RangeError(
      `Cannot fetch: ${name} must be ${min} to ${max}, current value is ` +
        `${value}`,
    );
  }
}
