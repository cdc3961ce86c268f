/** One remembered challenge, and the judgement of where it stands. @module */

import {
  type ChallengeRecord,
  type ChallengeState,
  MAX_COUNTED_FAILURES,
  REMEMBER_MS,
} from "./challenge_store.ts";
import { storeUnavailable } from "./store_unavailable.ts";

/** What is remembered of a challenge. */
export interface ChallengeEntry {
  /** The record as JSON text; empty once it is used or burned. */
  readonly text: string;
  /** When it expires, in milliseconds since 1970. */
  readonly expiresAtMs: number;
  /** Counted failures. */
  readonly failures: number;
  /** Whether it was used. */
  readonly used: boolean;
}

/** The entry of a new challenge. */
export function newEntry(record: ChallengeRecord): ChallengeEntry {
  return {
    text: JSON.stringify(record),
    expiresAtMs: Date.parse(record.expires_at),
    failures: 0,
    used: false,
  };
}

/**
 * Where a challenge stands. Comparisons are written so that a clock that gives
 * no number closes everything.
 */
export function stateOf(
  entry: ChallengeEntry | undefined,
  at: Date,
): ChallengeState {
  const ms = at.getTime();
  if (entry === undefined || !(ms < entry.expiresAtMs + REMEMBER_MS)) {
    return "not_found";
  }
  if (entry.used) return "used";
  if (entry.failures >= MAX_COUNTED_FAILURES) return "burned";
  return ms < entry.expiresAtMs ? "issued" : "expired";
}

/** The entry after it was used: what nobody needs any more is dropped. */
export function usedEntry(entry: ChallengeEntry): ChallengeEntry {
  return { ...entry, text: "", used: true };
}

/** The entry after one more failure. */
export function failedEntry(entry: ChallengeEntry): ChallengeEntry {
  const failures = entry.failures + 1;
  const isBurned = failures >= MAX_COUNTED_FAILURES;
  return { ...entry, failures, text: isBurned ? "" : entry.text };
}

/**
 * The record of an entry that is still open.
 *
 * @throws {SigError} `store_unavailable` when somebody else wrote it.
 */
export function recordOf(text: string): ChallengeRecord {
  try {
    return JSON.parse(text) as ChallengeRecord;
  } catch {
    // Without the cause: it quotes the text.
    throw storeUnavailable("it holds something else than challenges");
  }
}
