/** The period in which a relationship is in force. @module */

import {
  compareInstants,
  type Instant,
  parseTimestamp,
} from "../text/timestamp.ts";

/** The half-open period `[valid_from, valid_until)`; null is no bound. */
export interface Period {
  /** The start, included. */
  readonly valid_from?: string | null | undefined;
  /** The end, excluded. */
  readonly valid_until?: string | null | undefined;
}

/**
 * Returns the status of a period at an instant (docs/protocol.md §5). A bound
 * that is not a timestamp is never in force.
 *
 * @example
 * ```ts
 * import { instantOf } from "@sig/core";
 * import { validityAt } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * const period = { valid_from: null, valid_until: "2026-02-01T00:00:00Z" };
 * const at = (text: string) => validityAt(period, instantOf(new Date(text)));
 * assertEquals(at("2026-01-31T23:59:59Z"), "active");
 * assertEquals(at("2026-02-01T00:00:00Z"), "expired");
 * ```
 */
export function validityAt(
  { valid_from, valid_until }: Period,
  instant: Instant,
): "active" | "expired" | "not_yet_valid" {
  if (typeof valid_from === "string") {
    const from = parseTimestamp(valid_from);
    if (!from || compareInstants(instant, from) < 0) return "not_yet_valid";
  }
  if (typeof valid_until === "string") {
    const until = parseTimestamp(valid_until);
    if (!until || compareInstants(instant, until) >= 0) return "expired";
  }
  return "active";
}
