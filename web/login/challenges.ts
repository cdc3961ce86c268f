/**
 * Login challenges and their lifecycle in the store (docs/protocol.md §7).
 *
 * @module
 */

import {
  type RecordKind,
  recordsOf,
  type RecordStore,
} from "@sig/consumer/store";
import { CHALLENGE } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";

/** Number of counted failures that burns a challenge. */
const MAX_COUNTED_FAILURES = 5;

/** Milliseconds for which the store keeps a challenge after it expires. */
export const REMEMBER_MS = 60_000;

/** Maximum number of challenges of one client; new ones displace its oldest. */
const MAX_PER_CLIENT = 4_096;
/** Maximum size of one client's challenges: a quarter of the total. */
const MAX_CLIENT_BYTES = 16 * 1024 ** 2;

/**
 * A stored challenge. It contains no nonce, so that a reader of the store can't
 * answer it.
 */
export interface ChallengeRecord {
  /** The id: 32 characters of base64url. */
  readonly challenge_id: string;
  /** The origin or DID that the login is for. */
  readonly audience: string;
  /** SHA-256 of the nonce's UTF-8 bytes, in base64url. */
  readonly nonce_sha256: string;
  /** The scopes that may be granted. */
  readonly scopes: readonly string[];
  /** The only DID that may answer; null: any. */
  readonly subject: string | null;
  /** Expiry, RFC 3339 UTC. */
  readonly expires_at: string;
  /**
   * The only purpose that the answer is valid for, such as one sign-in
   * (default: any login).
   */
  readonly bound_to?: string;
}

/** The state of a stored challenge that can no longer be answered. */
export type ClosedState = "used" | "burned" | "expired";

/**
 * The state of a challenge: `issued → used | burned | expired`, irreversibly.
 */
export type ChallengeState = "issued" | ClosedState | "not_found";

/** The result of reading a challenge. */
export type ChallengeReading =
  | { readonly state: "issued"; readonly record: ChallengeRecord }
  | { readonly state: ClosedState | "not_found" };

/** The result of consuming a challenge. */
export type Consumption = "consumed" | ClosedState | "not_found";

/**
 * Challenges in a store, for one process or several. The current time is always
 * `at`. If several states apply, `used` takes precedence over `burned`, and
 * `burned` over `expired`. In every state, a challenge is kept until {@linkcode
 * REMEMBER_MS} after its expiry; then it is `not_found`.
 *
 * A store that does not respond is reported as `store_unavailable`, never as
 * `used` or `not_found`. If `consume` fails that way, the challenge may have
 * been used; it is never used twice.
 */
export interface Challenges {
  /**
   * Stores a new challenge.
   *
   * @param client The network address of the client, for its quota of
   * challenges (default: no quota).
   * @throws {SigError} `store_unavailable`; `rate_limited` with
   * `context.retry_after_seconds` if the store is full.
   * @throws {RangeError} if the id exists.
   */
  create(record: ChallengeRecord, at: Date, client?: string): Promise<void>;
  /** Reads the state of a challenge. */
  read(challengeId: string, at: Date): Promise<ChallengeReading>;
  /**
   * Counts a failed attempt if the challenge is still open. Returns the
   * resulting state: `burned` from the fifth failure on.
   */
  countFailure(challengeId: string, at: Date): Promise<ChallengeState>;
  /**
   * Marks the challenge as used if it is still open: one of several concurrent
   * calls succeeds.
   */
  consume(challengeId: string, at: Date): Promise<Consumption>;
}

/** The stored entry; the record is removed when the challenge is closed. */
interface Entry {
  readonly record?: ChallengeRecord;
  readonly expires_ms: number;
  readonly failures: number;
  readonly used?: true;
}

/**
 * Returns the challenges of a store.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "@sig/consumer/store";
 * import { challengesIn } from "./challenges.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const challenges = challengesIn(createMemoryStore());
 * const at = new Date("2026-01-31T09:00:00Z");
 * const challenge_id = "A".repeat(32);
 * await challenges.create({
 *   challenge_id,
 *   audience: "https://shop.example",
 *   nonce_sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
 *   scopes: [],
 *   subject: null,
 *   expires_at: "2026-01-31T09:05:00Z",
 * }, at);
 * assertEquals(await challenges.consume(challenge_id, at), "consumed");
 * assertEquals(await challenges.consume(challenge_id, at), "used");
 * ```
 *
 * @throws {SigError} from its methods `store_unavailable`.
 */
export function challengesIn(
  store: RecordStore,
  kind: RecordKind = CHALLENGE,
): Challenges {
  const entries = recordsOf<Entry>(store, kind);
  const quota = new OwnerQuota({
    maxRecords: MAX_PER_CLIENT,
    maxBytes: MAX_CLIENT_BYTES,
  });

  /** Changes a challenge that is still open. */
  const change = (id: string, at: Date, next: (entry: Entry) => Entry) =>
    entries.change(
      id,
      at,
      (entry) => stateOf(entry, at) === "issued" ? next(entry) : undefined,
    );

  return {
    async create(record, at, client) {
      const expires_ms = Date.parse(record.expires_at);
      const id = record.challenge_id;
      const until = new Date(expires_ms + REMEMBER_MS);
      const entry = { record, expires_ms, failures: 0 };
      if (!await entries.create(id, entry, until, at)) {
        throw new RangeError("Cannot create challenge: its id is taken");
      }
      // After the creation, so that a refused challenge leaves nothing.
      if (client === undefined) return;
      const bytes = JSON.stringify(entry).length;
      for (const old of quota.add(client, { id, until, bytes }, at)) {
        await entries.take(old, at);
      }
    },
    async read(id, at) {
      const entry = await entries.get(id, at);
      const state = stateOf(entry, at);
      return state === "issued" ? { state, record: entry!.record! } : { state };
    },
    async countFailure(id, at) {
      const { before, after } = await change(id, at, (entry) => {
        const failures = entry.failures + 1;
        const { record: _, ...rest } = entry;
        return failures >= MAX_COUNTED_FAILURES
          ? { ...rest, failures }
          : { ...entry, failures };
      });
      return stateOf(after ?? before, at);
    },
    async consume(id, at) {
      const { before, after } = await change(
        id,
        at,
        ({ record: _, ...rest }) => ({ ...rest, used: true }),
      );
      if (after !== undefined) return "consumed";
      // Without a change, the challenge was not open.
      return stateOf(before, at) as ClosedState | "not_found";
    },
  };
}

/**
 * With an invalid date the comparison is false, so every challenge is expired.
 */
function stateOf(entry: Entry | undefined, at: Date): ChallengeState {
  if (entry === undefined) return "not_found";
  if (entry.used) return "used";
  if (entry.failures >= MAX_COUNTED_FAILURES) return "burned";
  return at.getTime() < entry.expires_ms ? "issued" : "expired";
}

/**
 * Whether a text can be the id of a challenge. The store is not queried for
 * other texts.
 */
export function isChallengeId(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text);
}
