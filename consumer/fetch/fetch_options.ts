/** Options of a guarded fetch. @module */

import { MAX_TIMEOUT_MS } from "./transport.ts";

/**
 * The options that apply to every fetch: which hosts are allowed, and how to
 * connect.
 */
export interface FetchPolicy {
  /**
   * Time limit for connecting in milliseconds, DNS and TLS included (default:
   * 5,000).
   */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Total time spent waiting for the network in milliseconds (default: 30,000).
   */
  readonly totalTimeoutMs?: number | undefined;
  /**
   * Allows `http:` and private addresses. For tests and closed networks only: a
   * URL from outside can then reach services of this machine.
   */
  readonly allowPrivate?: boolean | undefined;
  /** Aborts the fetch, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Resolves host names (default: the operating system's resolver). */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
  /**
   * Sends the request (default: a connection to the vetted address). The
   * function chooses the address itself: names are resolved and vetted first
   * only if `resolve` is given. It must reject a truncated body: a body without
   * framing (HTTP/1 without length or chunks) can't be recognised here.
   */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** PEM certificates of the authorities to trust, instead of the runtime's. */
  readonly caCertificates?: readonly string[] | undefined;
}

/**
 * Returns the members of a fetch policy from options that have other members
 * too.
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
    connectTimeoutMs,
    totalTimeoutMs,
    allowPrivate,
    signal,
    resolve,
    fetch,
    caCertificates,
  };
}

export interface GuardedFetchOptions extends FetchPolicy {
  /** Maximum size of the body in bytes. */
  readonly maxBytes: number;
  /** The error code if the body is larger than `maxBytes`. */
  readonly tooLargeCode: "document_too_large" | "feed_too_large";
  /** Conditions of the request (default: none). */
  readonly conditions?: FetchConditions | undefined;
  /** Value of the `accept` header (default: `application/json`). */
  readonly accept?: string;
}

/** The limits of one fetch, in milliseconds and bytes. */
export type FetchLimits = Readonly<
  Record<"connectTimeoutMs" | "totalTimeoutMs" | "maxBytes", number>
>;

/** Conditions of a request. */
export interface FetchConditions {
  /**
   * Entity tag of the copy that the caller has. The server may then respond
   * with 304.
   */
  readonly ifNoneMatch?: string | undefined;
  /**
   * Requests only the bytes from this offset on. The server may then respond
   * with 206 or 200.
   */
  readonly range?: { readonly from: number } | undefined;
}

/** The bytes in a 206 response: `first` to `last`, inclusive, of `total`. */
export interface ContentRange {
  /** Offset of the first byte. */
  readonly first: number;
  /** Offset of the last byte, which is always the last byte of the document. */
  readonly last: number;
  /** Size of the whole document in bytes. */
  readonly total: number;
}

/** A document whose body has not been read yet. Read it once, or cancel it. */
export interface OpenedDocument {
  /**
   * The body in chunks. Can be iterated once. Leaving the loop early closes the
   * file or connection.
   */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Media type from the server, or null if there is none. */
  readonly mediaType: string | null;
  /** Entity tag from the server, or null if there is none. */
  readonly etag: string | null;
  /**
   * True if the document still has the entity tag `ifNoneMatch`. The body is
   * then empty.
   */
  readonly unchanged?: boolean;
  /** Size of the body in bytes, if known. For progress only: not verified. */
  readonly length?: number | undefined;
  /** The bytes that the body contains, if it is not the whole document. */
  readonly range?: ContentRange | undefined;
  /**
   * Closes the file or connection. Can be called at any time, and more than
   * once.
   */
  cancel(): void | Promise<void>;
}

/** RFC 9110 §8.8.3. Other characters could inject another header. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e]{0,256}"$/;

export function isEntityTag(text: string): boolean {
  return ENTITY_TAG.test(text);
}

/**
 * Checks the options and returns the limits.
 *
 * @throws {RangeError} for invalid limits and offsets.
 * @throws {TypeError} for a malformed entity tag.
 */
export function requireFetchOptions(
  {
    // The defaults are the time limits of docs/protocol.md §8.
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
