/** Challenges in this process's memory. @module */

import { SigError } from "@sig/core";
import {
  type ChallengeEntry,
  failedEntry,
  newEntry,
  recordOf,
  stateOf,
  usedEntry,
} from "./challenge_entry.ts";
import { type ChallengeStore, REMEMBER_MS } from "./challenge_store.ts";
import { settle } from "./settle.ts";

/** Options of {@linkcode createMemoryStore}. */
export interface MemoryStoreOptions {
  /** Challenges that wait for an answer, at most; 100,000 unless told. */
  readonly maxOutstanding?: number;
  /**
   * Challenges that are remembered at all, the used and burned ones included;
   * 1,000,000 unless told. One that is over takes about 150 bytes.
   */
  readonly maxRemembered?: number;
  /** Characters of all records together; 64 Mi unless told. */
  readonly maxRecordChars?: number;
}

/**
 * Keeps challenges in memory, for one process: when it ends, all challenges are
 * gone, and what was issued by one process is unknown to any other.
 *
 * There are no timers. What may be forgotten is swept whenever the store is
 * used in another second than before, by whole seconds of expiry, so that a
 * challenge costs the same however many there are.
 *
 * @example
 * ```ts
 * import { createMemoryStore } from "./memory_store.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const store = createMemoryStore();
 * const at = new Date("2026-01-31T09:00:00Z");
 * const challenge_id = "A".repeat(32);
 * await store.create({
 *   challenge_id,
 *   audience: "https://shop.example",
 *   nonce_sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
 *   scopes: [],
 *   subject: null,
 *   expires_at: "2026-01-31T09:05:00Z",
 * }, at);
 * assertEquals(await store.consume(challenge_id, at), "consumed");
 * assertEquals(await store.consume(challenge_id, at), "used");
 * ```
 *
 * @throws {SigError} `rate_limited` from `create` while the store is full;
 * `context.retry_after_seconds` is the time until the next challenge of those
 * that fill it is forgotten, a minute after it expired.
 */
export function createMemoryStore(
  options: MemoryStoreOptions = {},
): ChallengeStore {
  const memory = new Memory(options);
  return {
    create(record, at) {
      return settle(() =>
        memory.add(record.challenge_id, newEntry(record), at)
      );
    },
    read(id, at) {
      return settle(() => {
        const entry = memory.get(id, at);
        const state = stateOf(entry, at);
        if (state !== "issued") return { state };
        return { state, record: recordOf(entry!.text) };
      });
    },
    countFailure(id, at) {
      return settle(() => {
        const entry = memory.get(id, at);
        if (stateOf(entry, at) !== "issued") return stateOf(entry, at);
        return stateOf(memory.replace(id, failedEntry(entry!)), at);
      });
    },
    consume(id, at) {
      return settle(() => {
        const entry = memory.get(id, at);
        const state = stateOf(entry, at);
        if (state !== "issued") return state;
        memory.replace(id, usedEntry(entry!));
        return "consumed";
      });
    },
    close() {
      memory.clear();
      return Promise.resolve();
    },
  };
}

class Memory {
  readonly #entries = new Map<string, ChallengeEntry>();
  /** Ids by the second from which on they may be forgotten. */
  readonly #due = new Map<number, string[]>();
  /** How many of them hold their records, by the same second. */
  readonly #open = new Map<number, number>();
  readonly #maxOutstanding: number;
  readonly #maxRemembered: number;
  readonly #maxRecordChars: number;
  #outstanding = 0;
  #recordChars = 0;
  #sweptSecond = -Infinity;

  constructor(options: MemoryStoreOptions) {
    this.#maxOutstanding = options.maxOutstanding ?? 100_000;
    this.#maxRemembered = options.maxRemembered ?? 1_000_000;
    this.#maxRecordChars = options.maxRecordChars ?? 64 * 1024 ** 2;
  }

  add(id: string, entry: ChallengeEntry, at: Date): void {
    this.#sweep(at);
    if (this.#entries.has(id)) {
      throw new RangeError("Cannot create challenge: its id is taken");
    }
    if (
      this.#outstanding >= this.#maxOutstanding ||
      this.#entries.size >= this.#maxRemembered ||
      this.#recordChars + entry.text.length > this.#maxRecordChars
    ) throw this.#full(at);
    this.#entries.set(id, entry);
    this.#count(entry, 1);
    const second = dueSecond(entry);
    const due = this.#due.get(second);
    if (due === undefined) this.#due.set(second, [id]);
    else due.push(id);
  }

  get(id: string, at: Date): ChallengeEntry | undefined {
    this.#sweep(at);
    return this.#entries.get(id);
  }

  replace(id: string, entry: ChallengeEntry): ChallengeEntry {
    this.#count(this.#entries.get(id), -1);
    this.#entries.set(id, entry);
    this.#count(entry, 1);
    return entry;
  }

  clear(): void {
    this.#entries.clear();
    this.#due.clear();
    this.#open.clear();
    this.#outstanding = 0;
    this.#recordChars = 0;
  }

  /** Only a challenge that is not over holds its record's text. */
  #count(entry: ChallengeEntry | undefined, sign: 1 | -1): void {
    if (entry === undefined || entry.text === "") return;
    this.#outstanding += sign;
    this.#recordChars += sign * entry.text.length;
    const second = dueSecond(entry);
    const open = (this.#open.get(second) ?? 0) + sign;
    if (open > 0) this.#open.set(second, open);
    else this.#open.delete(second);
  }

  #sweep(at: Date): void {
    const second = Math.floor(at.getTime() / 1000);
    // Not "later than": a clock that was set ahead once must not end sweeping.
    if (second === this.#sweptSecond) return;
    this.#sweptSecond = second;
    for (const [due, ids] of this.#due) {
      if (!(due <= second)) continue;
      this.#due.delete(due);
      for (const id of ids) {
        this.#count(this.#entries.get(id), -1);
        this.#entries.delete(id);
      }
    }
  }

  #full(at: Date): SigError {
    // What is used or burned makes room only where all that is remembered counts.
    const isCrowded = this.#entries.size >= this.#maxRemembered;
    const first = Math.min(...(isCrowded ? this.#due : this.#open).keys());
    const wait = Math.ceil(first - at.getTime() / 1000);
    return new SigError(
      "rate_limited",
      "Cannot create challenge: too many are outstanding",
      {
        context: {
          limit: this.#maxOutstanding,
          retry_after_seconds: Math.min(Math.max(wait, 1), 3_600),
          hint: "Try again later.",
        },
      },
    );
  }
}

function dueSecond({ expiresAtMs }: ChallengeEntry): number {
  return Math.ceil((expiresAtMs + REMEMBER_MS) / 1000);
}
