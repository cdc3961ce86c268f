/** Every size limit, in one place (docs/protocol.md §8). @module */

/**
 * What a reader accepts and an issuer writes at most. Characters are counted as
 * UTF-16 code units, as `length` does.
 */
export interface Limits {
  /** Bytes of one feed line, without its LF. */
  readonly maxLineBytes: number;
  /** Bytes of a whole feed. */
  readonly maxFeedBytes: number;
  /** Events in a feed. */
  readonly maxEvents: number;
  /** Bytes of `sig.json`. */
  readonly maxMetadataBytes: number;
  /** Bytes of `jwks.json`. */
  readonly maxJwksBytes: number;
  /** Keys in `jwks.json`. */
  readonly maxJwksKeys: number;
  /** Bytes of `did.json`. */
  readonly maxDidDocumentBytes: number;
  /** Levels of nesting in any JSON text. */
  readonly maxJsonDepth: number;
  /** Characters of an identifier, when writing. */
  readonly maxIdentifierLength: number;
  /** Roles of an upsert, when writing. */
  readonly maxRoles: number;
  /** Characters of a role, when writing. */
  readonly maxRoleLength: number;
  /** Characters of `reason`, when writing. */
  readonly maxReasonLength: number;
  /** Bytes of `metadata` as JSON, when writing. */
  readonly maxEventMetadataBytes: number;
  /** Seconds by which clocks may differ. */
  readonly clockSkewSeconds: number;
}

/**
 * The limits of the command line and the libraries.
 *
 * @example A tighter reader
 * ```ts
 * import { DEFAULT_LIMITS, type Limits } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limits: Limits = { ...DEFAULT_LIMITS, maxEvents: 250_000 };
 * assertEquals(limits.maxLineBytes, 65_536);
 * ```
 */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  maxLineBytes: 64 * 1024,
  maxFeedBytes: 1024 ** 3,
  maxEvents: 5_000_000,
  maxMetadataBytes: 16 * 1024,
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

/** Seconds that a login challenge lives at least (docs/protocol.md §7). */
export const MIN_TTL_SECONDS = 30;
/** Seconds that a login challenge lives at most (docs/protocol.md §7). */
export const MAX_TTL_SECONDS = 900;
