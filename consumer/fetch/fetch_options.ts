/** The options of a guarded fetch. @module */

import { MAX_TIMEOUT_MS } from "./network_budget.ts";

/** Which hosts may be fetched from, and how: the same for every fetch. */
export interface FetchPolicy {
  /** Milliseconds to connect, DNS and TLS included (default: 5,000). */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds spent waiting for the network, in all (default: 30,000). */
  readonly totalTimeoutMs?: number | undefined;
  /**
   * Allow `http:` and private addresses: for tests and closed networks only,
   * since a URL from outside can then reach this machine's own services.
   */
  readonly allowPrivate?: boolean | undefined;
  /** Stops the fetch; its reason is what is thrown. */
  readonly signal?: AbortSignal | undefined;
  /** Resolves host names, instead of the operating system. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
  /**
   * Sends the request, instead of our own connection. It chooses the address
   * itself: names are resolved and vetted before only when `resolve` is given.
   * It must reject a body that was cut: what ends without having said so
   * (HTTP/1 without length or chunks) can't be recognised here.
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** PEM certificates of authorities to trust instead of the runtime's own. */
  readonly caCertificates?: readonly string[] | undefined;
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
 * const policy = fetchPolicyOf(options);
 * assertEquals([policy.allowPrivate, "audiences" in policy], [true, false]);
 * ```
 */
export function fetchPolicyOf(options: FetchPolicy): FetchPolicy {
  const { connectTimeoutMs, totalTimeoutMs, allowPrivate, signal } = options;
  const { resolve, fetch, caCertificates } = options;
  return {
    ...{ connectTimeoutMs, totalTimeoutMs, allowPrivate, signal },
    ...{ resolve, fetch, caCertificates },
  };
}

/** Options of {@linkcode guardedFetch}. */
export interface GuardedFetchOptions extends FetchPolicy {
  /** Bytes of the body, at most. */
  readonly maxBytes: number;
  /** The code of a body that is larger. */
  readonly tooLargeCode: "document_too_large" | "feed_too_large";
  /** What to ask beyond the plain document. */
  readonly conditions?: FetchConditions | undefined;
  /** The `accept` header. */
  readonly accept?: string;
}

/** How much one fetch may take, in the units of its options. */
export type FetchLimits = Readonly<
  Record<"connectTimeoutMs" | "totalTimeoutMs" | "maxBytes", number>
>;

/** What to ask beyond the plain document. */
export interface FetchConditions {
  /** An entity tag that we hold: 304 is then an answer. */
  readonly ifNoneMatch?: string | undefined;
  /** Only the bytes from here on: 206 is then an answer, and so is 200. */
  readonly range?: { readonly from: number } | undefined;
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

/** A document whose bytes are on their way. Read it once, or cancel it. */
export interface OpenedDocument {
  /**
   * The bytes, in chunks; to be iterated at most once. Leaving the loop early
   * closes the file or connection.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** The media type from the server, or null. */
  readonly mediaType: string | null;
  /** The entity tag from the server, or null. */
  readonly etag: string | null;
  /** The document is the one that `ifNoneMatch` names; no bytes follow. */
  readonly unchanged?: boolean;
  /** Bytes to come, if known; for progress only, never relied upon. */
  readonly length?: number | undefined;
  /** Which bytes these are, when they are not all. */
  readonly range?: ContentRange | undefined;
  /** Closes the file or connection; may be called at any time and twice. */
  cancel(): void | Promise<void>;
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
    conditions: { ifNoneMatch, range } = {},
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
