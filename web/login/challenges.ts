/** Login challenges: their life in the store (docs/protocol.md §7). @module */

import {
  type RecordKind,
  recordsOf,
  type RecordStore,
} from "@sig/consumer/store";
import { CHALLENGE } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";

/** Counted failures after which a challenge is burned. */
const MAX_COUNTED_FAILURES = 5;

/** How long a challenge is remembered after it expired, in milliseconds. */
export const REMEMBER_MS = 60_000;

/** Challenges that one client may hold; its oldest make room for new ones. */
const MAX_PER_CLIENT = 4_096;
/** A quarter of the memory for all of them. */
const MAX_CLIENT_BYTES = 16 * 1024 ** 2;

/**
 * What a verifier needs of a challenge. The nonce itself is not in it: a
 * reader of the store can't answer the challenges in it.
 */
export interface ChallengeRecord {
  /** 32 characters of base64url. */
  readonly challenge_id: string;
  /** The origin or DID that asked. */
  readonly audience: string;
  /** SHA-256 of the nonce's UTF-8 bytes, in base64url. */
  readonly nonce_sha256: string;
  /** What may be granted. */
  readonly scopes: readonly string[];
  /** The only DID that may answer, or null. */
  readonly subject: string | null;
  /** RFC 3339 UTC. */
  readonly expires_at: string;
  /** What the answer is good for and nothing else, such as one sign-in. */
  readonly bound_to?: string;
}

/** Why a challenge that is remembered can't be answered any more. */
export type ClosedState = "used" | "burned" | "expired";

/** The state of a challenge: `issued → used | burned | expired`, no way back. */
export type ChallengeState = "issued" | ClosedState | "not_found";

/** What a store knows of a challenge. */
export type ChallengeReading =
  | { readonly state: "issued"; readonly record: ChallengeRecord }
  | { readonly state: ClosedState | "not_found" };

/** The outcome of using a challenge. */
export type Consumption = "consumed" | ClosedState | "not_found";

/**
 * Challenges in a store, for one process or for many. The clock is always `at`.
 * Where several states hold, `used` comes before `burned` before `expired`. A
 * challenge is remembered until {@linkcode REMEMBER_MS} after it expired,
 * whatever its state; from that instant on it is `not_found`.
 *
 * A store that does not respond is `store_unavailable`, never `used` and never
 * `not_found`. When `consume` fails that way, the challenge may or may not be
 * used; it is never used twice.
 */
export interface Challenges {
  /**
   * Stores a new challenge.
   *
   * @param client The network address of the client, which limits how many
   * challenges it holds (default: no such limit).
   * @throws {SigError} `store_unavailable`; `rate_limited` with
   * `context.retry_after_seconds` where the store is full.
   * @throws {RangeError} when the id is taken.
   */
  create(record: ChallengeRecord, at: Date, client?: string): Promise<void>;
  /** Looks a challenge up. */
  read(challengeId: string, at: Date): Promise<ChallengeReading>;
  /**
   * Counts a failed attempt against a challenge that is still open, and returns
   * its state then: `burned` from the fifth failure on.
   */
  countFailure(challengeId: string, at: Date): Promise<ChallengeState>;
  /** Uses the challenge, if it is still open: of parallel calls one succeeds. */
  consume(challengeId: string, at: Date): Promise<Consumption>;
}

/** What is stored; the record goes when nobody can answer it any more. */
interface Entry {
  readonly record?: ChallengeRecord;
  readonly expires_ms: number;
  readonly failures: number;
  readonly used?: true;
}

/**
 * The challenges of a store.
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

  async function change(
    id: string,
    at: Date,
    next: (entry: Entry) => Entry,
  ): Promise<{ readonly before: ChallengeState; readonly after?: Entry }> {
    let state: ChallengeState = "not_found";
    const { after } = await entries.change(id, at, (entry) => {
      state = stateOf(entry, at);
      return state === "issued" ? next(entry) : undefined;
    });
    return { before: state, ...(after === undefined ? {} : { after }) };
  }

  return {
    async create(record, at, client) {
      const expires_ms = Date.parse(record.expires_at);
      const id = record.challenge_id;
      const until = new Date(expires_ms + REMEMBER_MS);
      const entry = { record, expires_ms, failures: 0 };
      if (client !== undefined) {
        const bytes = JSON.stringify(entry).length;
        for (const old of quota.add(client, { id, until, bytes }, at)) {
          await entries.take(old, at);
        }
      }
      if (await entries.create(id, entry, until, at)) return;
      throw new RangeError("Cannot create challenge: its id is taken");
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
      return after === undefined ? before : stateOf(after, at);
    },
    async consume(id, at) {
      const { before, after } = await change(
        id,
        at,
        ({ record: _, ...rest }) => ({ ...rest, used: true }),
      );
      if (after !== undefined) return "consumed";
      // An open challenge was changed, or it was not open.
      return before as ClosedState | "not_found";
    },
  };
}

/** Written so that a clock that is not a number closes everything. */
function stateOf(entry: Entry | undefined, at: Date): ChallengeState {
  if (entry === undefined) return "not_found";
  if (entry.used) return "used";
  if (entry.failures >= MAX_COUNTED_FAILURES) return "burned";
  return at.getTime() < entry.expires_ms ? "issued" : "expired";
}

/** Whether a text can be the id of a challenge; keeps any other from a store. */
export function isChallengeId(text: string): boolean {
  return /^[A-Za-z0-9_-]{32}$/.test(text);
}
