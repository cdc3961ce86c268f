/** From the text of `--store` to a store (INTERFACES §4). @module */

import { quote, SigError, suggest } from "@sig/core";
import { storeUnavailable } from "./store_unavailable.ts";
import type { ChallengeStore } from "./challenge_store.ts";
import { createMemoryRecords } from "./memory_records.ts";
import { createMemoryStore } from "./memory_store.ts";
import type { RecordStore } from "./record_store.ts";

const FORMS = "memory, kv:PATH, redis://HOST or rediss://HOST";

/** Options of {@linkcode openStore}. */
export interface OpenStoreOptions {
  /** The password of a `redis:` store whose URL has none; a secret. */
  readonly password?: string | undefined;
}

/** Both stores of a login, over one connection. */
export interface Stores {
  /** Keeps challenges. */
  readonly challenges: ChallengeStore;
  /** Keeps sessions, codes and the like. */
  readonly records: RecordStore;
  /** Closes both; a second call does nothing. */
  close(): Promise<void>;
}

/**
 * Opens the store that a text names: `memory`; `kv:PATH` (Deno KV in a file;
 * needs `deno run --unstable-kv`), `kv:` (the platform's own database, as on
 * Deno Deploy); `redis://[user:password@]host[:port][/database]`, `rediss://…`
 * for TLS. A driver is loaded only when it is named.
 *
 * @example
 * ```ts
 * import { openStore } from "./open_store.ts";
 * import { SigError } from "@sig/core";
 * import { assertRejects } from "@std/assert";
 *
 * const store = await openStore("memory");
 * await store.close();
 *
 * await assertRejects(() => openStore("memroy"), SigError, "it must be memory");
 * ```
 *
 * @throws {SigError} `invalid_request` for a text that names no store;
 * `store_unavailable` when it can't be opened. Neither shows a URL's
 * credentials.
 */
export async function openStore(
  text: string,
  options: OpenStoreOptions = {},
): Promise<ChallengeStore> {
  return (await openStores(text, options)).challenges;
}

/**
 * Opens both stores of a login where a text names, as {@linkcode openStore}.
 *
 * @throws {SigError} as `openStore`.
 */
export async function openStores(
  text: string,
  { password }: OpenStoreOptions = {},
): Promise<Stores> {
  if (text === "memory") {
    return together(createMemoryStore(), createMemoryRecords());
  }
  if (text.startsWith("kv:")) {
    const path = text.slice("kv:".length);
    if (path.includes("://")) {
      throw unknownStore("", "remote KV databases are not supported");
    }
    const { openKvDatabase } = await import("./kv_database.ts");
    const { keepChallengesInKv } = await import("./kv_store.ts");
    const { keepRecordsInKv } = await import("./kv_records.ts");
    const database = await openKvDatabase(path === "" ? undefined : path);
    return together(keepChallengesInKv(database), keepRecordsInKv(database));
  }
  if (/^rediss?:/.test(text)) {
    const { connectRedis, parseRedisUrl } = await import(
      "@sig/consumer/connect"
    );
    const address = parseRedisUrl(text);
    const { keepChallengesInRedis } = await import("./redis_store.ts");
    const { keepRecordsInRedis } = await import("./redis_records.ts");
    const redis = await connectRedis(
      password === undefined ? address : { ...address, password },
      { unavailable: storeUnavailable },
    );
    return together(keepChallengesInRedis(redis), keepRecordsInRedis(redis));
  }
  throw unknownStore(text, `it must be ${FORMS}`);
}

function together(challenges: ChallengeStore, records: RecordStore): Stores {
  return {
    challenges,
    records,
    async close() {
      await challenges.close();
      await records.close();
    },
  };
}

/** Shows only a plain word: a mistyped URL may hold a password. */
function unknownStore(text: string, why: string): SigError {
  const isWord = /^[a-z]{1,20}$/i.test(text);
  const near = isWord ? suggest(text, ["memory", "kv", "redis"]) : undefined;
  return new SigError(
    "invalid_request",
    `Cannot use store${isWord ? ` ${quote(text)}` : ""}: ${why}`,
    {
      context: {
        hint: near === undefined
          ? `Choose ${FORMS}.`
          : `Did you mean ${near === "memory" ? near : `${near}:…`}?`,
      },
    },
  );
}
