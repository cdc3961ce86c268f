/** The contract of what keeps challenges (PROTOCOL §7). @module */

/** Counted failures after which a challenge is burned. */
export const MAX_COUNTED_FAILURES = 5;

/** How long a challenge is remembered after it expired, in milliseconds. */
export const REMEMBER_MS = 60_000;

/**
 * What a verifier needs of a challenge. The nonce itself is not in it: whoever
 * reads the store can't answer the challenges in it.
 */
export interface ChallengeRecord {
  /** 32 characters of base64url. */
  readonly challenge_id: string;
  /** Who asked: an origin or a DID. */
  readonly audience: string;
  /** SHA-256 of the nonce's UTF-8 bytes, in base64url. */
  readonly nonce_sha256: string;
  /** What may be granted. */
  readonly scopes: readonly string[];
  /** The only DID that may answer, or null. */
  readonly subject: string | null;
  /** RFC 3339 UTC. */
  readonly expires_at: string;
}

/** Why a challenge that is remembered can't be answered any more. */
export type ClosedState = "used" | "burned" | "expired";

/** Where a challenge stands: `issued → used | burned | expired`, no way back. */
export type ChallengeState = "issued" | ClosedState | "not_found";

/** What a store knows of a challenge. */
export type ChallengeReading =
  | { readonly state: "issued"; readonly record: ChallengeRecord }
  | { readonly state: ClosedState | "not_found" };

/** What came of trying to use a challenge. */
export type Consumption = "consumed" | ClosedState | "not_found";

/**
 * Keeps challenges, for one process or for many. A driver must hold to this:
 *
 * - The clock is always `at`, never the store's own. A method decides by it
 *   alone, so that a late sweep changes no answer.
 * - Where several states hold, `used` comes before `burned` before `expired`.
 * - A challenge is remembered until {@linkcode REMEMBER_MS} after it expired,
 *   whatever its state; from that instant on it is `not_found`.
 * - `countFailure` and `consume` are atomic across every process that shares
 *   the store: of any number of parallel `consume` calls exactly one is
 *   answered `consumed`.
 * - What the store reports as busy is tried again within a few seconds. A store
 *   that can't be reached, or does not answer in time, is `store_unavailable`;
 *   it is never `used` and never `not_found`. When `consume` fails that way,
 *   the challenge may or may not be used; it is never used twice.
 * - Errors say nothing of credentials and quote nothing out of the store.
 *
 * Ids are always of the shape that `isChallengeId` accepts. The tests of
 * the three drivers here (`@sig/web/store-contract`) fit every other one.
 */
export interface ChallengeStore {
  /**
   * Keeps a new challenge.
   *
   * @throws {SigError} `store_unavailable`; `rate_limited` with
   * `context.retry_after_seconds` where the store is full.
   * @throws {RangeError} when the id is taken.
   */
  create(record: ChallengeRecord, at: Date): Promise<void>;
  /**
   * Looks a challenge up.
   *
   * @throws {SigError} `store_unavailable`.
   */
  read(challengeId: string, at: Date): Promise<ChallengeReading>;
  /**
   * Counts a failed attempt against a challenge that is still open, and says
   * where it stands then: `burned` from the fifth on.
   *
   * @throws {SigError} `store_unavailable`.
   */
  countFailure(challengeId: string, at: Date): Promise<ChallengeState>;
  /**
   * Uses the challenge up, if it is still open.
   *
   * @throws {SigError} `store_unavailable`.
   */
  consume(challengeId: string, at: Date): Promise<Consumption>;
  /** Gives connections and files back; a second call does nothing. */
  close(): Promise<void>;
}

/** Whether a text can be the id of a challenge; keeps any other from a store. */
export function isChallengeId(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text);
}
