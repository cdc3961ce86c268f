/** Size limits (docs/protocol.md §8). @module */

/**
 * Limits on what a reader accepts and an issuer writes. Characters are UTF-16
 * code units, as in `length`.
 */
export interface Limits {
  /** Maximum size of one feed line in bytes, without its LF. */
  readonly maxLineBytes: number;
  /** Maximum size of a feed in bytes. */
  readonly maxFeedBytes: number;
  /** Maximum number of events in a feed. */
  readonly maxEvents: number;
  /** Maximum size of `sig.json` in bytes. */
  readonly maxMetadataBytes: number;
  /** Maximum size of `jwks.json` in bytes. */
  readonly maxJwksBytes: number;
  /** Maximum number of keys in `jwks.json`. */
  readonly maxJwksKeys: number;
  /** Maximum size of `did.json` in bytes. */
  readonly maxDidDocumentBytes: number;
  /** Maximum nesting of any JSON text. */
  readonly maxJsonDepth: number;
  /** Maximum length of a written identifier in characters. */
  readonly maxIdentifierLength: number;
  /** Maximum number of roles in a written upsert. */
  readonly maxRoles: number;
  /** Maximum length of a written role in characters. */
  readonly maxRoleLength: number;
  /** Maximum length of a written `reason` in characters. */
  readonly maxReasonLength: number;
  /** Maximum size of a written `metadata` as JSON in bytes. */
  readonly maxEventMetadataBytes: number;
  /** Tolerated difference between clocks in seconds. */
  readonly clockSkewSeconds: number;
}

/**
 * The default limits of the command line and the libraries.
 *
 * @example Set stricter limits
 * ```ts
 * import { DEFAULT_LIMITS, type Limits } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limits: Limits = { ...DEFAULT_LIMITS, maxEvents: 250_000 };
 * assertEquals(limits.maxLineBytes, 65_536);
 * ```
 */
export const DEFAULT_LIMITS: Limits = /* @__PURE__ */ Object.freeze({
  maxLineBytes: 64 * 1024,
  maxFeedBytes: 1024 ** 3,
  maxEvents: 5_000_000,
  maxMetadataBytes: 64 * 1024,
  maxJwksBytes: 256 * 1024,
  maxJwksKeys: 256,
  maxDidDocumentBytes: 64 * 1024,
  maxJsonDepth: 16,
  maxIdentifierLength: 512,
  maxRoles: 64,
  maxRoleLength: 128,
  maxReasonLength: 2_000,
  maxEventMetadataBytes: 16 * 1024,
  clockSkewSeconds: 60,
});

/** Minimum lifetime of a login challenge in seconds (docs/protocol.md §7). */
export const MIN_TTL_SECONDS = 30;
/** Maximum lifetime of a login challenge in seconds (docs/protocol.md §7). */
export const MAX_TTL_SECONDS = 900;
