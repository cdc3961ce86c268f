/** A memory in Redis, for any number of machines. @module */

import {
  connectRedis,
  type RedisConnection,
} from "../store/redis_connection.ts";
import type { RedisAddress } from "../store/redis_url.ts";
import {
  damaged,
  type PinEntry,
  type PinRow,
  type PinStore,
  pinStoreUnavailable,
  StateMoved,
  type StateRef,
} from "./pin_store.ts";
import {
  ALL,
  GET,
  LIST,
  PUT,
  REMOVE,
  ROWS,
  STAGE,
  STAGED,
  UNSTAGE,
} from "./redis_pin_scripts.ts";

/** Options of {@linkcode openRedisPinStore}. */
export interface RedisPinStoreOptions {
  /** How long one call may take in all, in milliseconds; 5,000 unless told. */
  readonly timeoutMs?: number | undefined;
}

/** A first verification that rests for so long is over. */
const STAGED_MS = 60 * 60 * 1000;

/** Rows of one call. */
const CALL_ROWS = 1_000;

/** The issuers that are remembered. */
const ISSUERS = "sig:pins";

/**
 * Opens the memory in Redis 6 or later (or what speaks its protocol and runs
 * Lua). An issuer is one key, entry and rows together: a server that forgets it,
 * forgets it as a whole.
 *
 * @throws {SigError} `store_unavailable` when the server can't be reached or
 * refuses us; it never holds the password.
 */
export async function openRedisPinStore(
  address: RedisAddress,
  { timeoutMs = 5_000 }: RedisPinStoreOptions = {},
): Promise<PinStore> {
  const { hostname, port, tls, database } = address;
  const place = `redis${tls ? "s" : ""}://${hostname}:${port}/${database}`;
  const redis = await connectRedis(address, {
    timeoutMs,
    unavailable: (why, cause, hint) =>
      pinStoreUnavailable(place, why, {
        cause,
        ...(hint === undefined ? {} : { hint }),
      }),
  });
  return new RedisPinStore(place, redis);
}

class RedisPinStore implements PinStore {
  readonly place: string;
  readonly #redis: RedisConnection;
  /** States of which this process has staged rows: they must be there. */
  readonly #staged = new Set<string>();

  constructor(place: string, redis: RedisConnection) {
    this.place = place;
    this.#redis = redis;
  }

  async get(issuer: string): Promise<PinEntry | undefined> {
    const found = await this.#redis.run(GET, [keyOf(issuer)], []);
    return found.length === 0 ? undefined : this.#entryOf(issuer, found);
  }

  async list(): Promise<readonly PinEntry[]> {
    const issuers = await this.#redis.run(LIST, [ISSUERS], []);
    const entries: PinEntry[] = [];
    for (const issuer of [...issuers].sort()) {
      const entry = await this.get(issuer);
      if (entry !== undefined) entries.push(entry);
    }
    return entries;
  }

  async rows(
    { issuer, state }: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const found: (string | undefined)[] = [];
    let at = 0;
    do {
      const part = keys.slice(at, at + CALL_ROWS);
      const [is, ...values] = await this.#redis.run(ROWS, [keyOf(issuer)], [
        state,
        ...part,
      ]);
      if (is !== "ok") throw new StateMoved();
      found.push(...values.map(textOf));
      at += CALL_ROWS;
    } while (at < keys.length);
    return found;
  }

  async *all(
    { issuer, state }: StateRef,
    prefix: string,
  ): AsyncGenerator<PinRow> {
    // A scan may tell a key twice.
    const told = new Set<string>();
    let cursor = "0";
    do {
      const [is, next, ...found] = await this.#redis.run(ALL, [keyOf(issuer)], [
        ...[state, cursor, `=${prefix}*`],
      ]);
      if (is !== "ok") throw new StateMoved();
      cursor = next!;
      for (let i = 0; i < found.length; i += 2) {
        const key = found[i]!.slice(1);
        if (told.has(key)) continue;
        told.add(key);
        yield [key, found[i + 1]!];
      }
    } while (cursor !== "0");
  }

  async stage(
    { issuer, state }: StateRef,
    rows: readonly PinRow[],
  ): Promise<void> {
    const key = stagedKeyOf(issuer, state);
    for (let at = 0; at < rows.length; at += CALL_ROWS) {
      const part = rows.slice(at, at + CALL_ROWS);
      const wasStaged = this.#staged.has(key);
      const [is] = await this.#redis.run(
        STAGE,
        [key, `sig:pin-staged:${issuer}`],
        [String(STAGED_MS), wasStaged ? "1" : "0", ...part.flat()],
      );
      if (is !== "ok") {
        this.#staged.delete(key);
        throw new StateMoved();
      }
      this.#staged.add(key);
    }
  }

  async staged(
    { issuer, state }: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    const found: (string | undefined)[] = [];
    for (let at = 0; at < keys.length; at += CALL_ROWS) {
      const part = keys.slice(at, at + CALL_ROWS);
      const place = [stagedKeyOf(issuer, state)];
      const values = await this.#redis.run(STAGED, place, part);
      found.push(...values.map(textOf));
    }
    return found;
  }

  async unstage({ issuer, state }: StateRef): Promise<void> {
    const key = stagedKeyOf(issuer, state);
    this.#staged.delete(key);
    await this.#redis.run(UNSTAGE, [
      key,
      `sig:pin-staged:${issuer}`,
    ], []);
  }

  async put(
    { issuer, revision, state, body }: PinEntry,
    rows: readonly PinRow[] = [],
    over = "",
  ): Promise<boolean> {
    const stagedKey = stagedKeyOf(issuer, state);
    const wasStaged = this.#staged.has(stagedKey);
    const [answer] = await this.#redis.run(
      PUT,
      [
        keyOf(issuer),
        stagedKey,
        ISSUERS,
        `sig:pin-staged:${issuer}`,
      ],
      [
        ...[issuer, String(revision), state, body, wasStaged ? "1" : "0", over],
        ...rows.flat(),
      ],
    );
    // What came too late may be put again.
    if (answer !== "outdated") this.#staged.delete(stagedKey);
    if (answer === "lost") {
      throw pinStoreUnavailable(
        this.place,
        "rows that were just written are gone: the server forgets keys",
        { hint: "Give it room, or set maxmemory-policy to noeviction." },
      );
    }
    return answer === "written";
  }

  async remove(issuer: string): Promise<boolean> {
    const [answer] = await this.#redis.run(REMOVE, [keyOf(issuer), ISSUERS], [
      issuer,
    ]);
    return answer === "1";
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  #entryOf(
    issuer: string,
    [revision, state, body]: readonly string[],
  ): PinEntry {
    const number = Number(revision);
    if (
      !Number.isSafeInteger(number) || state === undefined || body === undefined
    ) throw damaged(this.place, `the pin of ${issuer}`);
    return { issuer, revision: number, state, body };
  }
}

/** With a sign in front, since what is missing has no text. */
function textOf(value: string): string | undefined {
  return value.startsWith("=") ? value.slice(1) : undefined;
}

function keyOf(issuer: string): string {
  return `sig:pin:${issuer}`;
}

function stagedKeyOf(issuer: string, state: string): string {
  return `sig:pin-staged:${state}:${issuer}`;
}
