/** Opens a pin store by its location, such as the value of `--pins`. @module */

import { SigError } from "@sig/core";
import {
  openStore,
  type OpenStoreOptions,
  ShownPlace,
} from "../store/open_store.ts";
import { type RecordStore, storeUnavailable } from "../store/record_store.ts";
import { SqliteFile } from "../store/sqlite_file.ts";
import { keepRecordsInSqlite, RECORD_TABLE } from "../store/sqlite_records.ts";

/** A store of pins; any record store is one. */
export type PinStore = RecordStore;

/**
 * Opens a pin store by its location: the path of a file (SQLite), `kv:PATH`
 * (Deno KV in a file), `kv:` (the platform's own database, as on Deno Deploy),
 * `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS. A
 * driver is loaded only when it is used.
 *
 * @example
 * ```ts
 * import { createConsumer } from "@sig/consumer";
 * import { openPinStore } from "@sig/consumer/pins";
 *
 * const dir = await Deno.makeTempDir();
 * {
 *   await using pins = await openPinStore(`${dir}/pins.db`);
 *   createConsumer({ issuers: ["acme.example"], pins });
 * } // closed here
 * await Deno.remove(dir, { recursive: true });
 * ```
 *
 * @throws {SigError} `invalid_request` for an invalid location;
 * `store_unavailable` if it can't be opened. Neither message shows the
 * credentials of a URL.
 */
export async function openPinStore(
  text: string,
  options: OpenStoreOptions = {},
): Promise<PinStore & AsyncDisposable> {
  const store = await open(text, options);
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

async function open(
  text: string,
  options: OpenStoreOptions,
): Promise<PinStore> {
  if (/^(?:rediss?|kv):/.test(text)) {
    const store = await openStore(text, options);
    try {
      await requireNoOldPins(store, text, options);
      return store;
    } catch (error) {
      await store.close();
      throw error;
    }
  }
  // The text is not shown: a mistyped URL may contain a password.
  if (text === "" || /:\/\/|^rediss?\/\//i.test(text)) {
    throw new SigError(
      "invalid_request",
      "Cannot open pin store: it must be a file, kv:PATH, redis://HOST or rediss://HOST",
    );
  }
  const shown = new ShownPlace(text, options);
  const file = SqliteFile.open(text, {
    // "SIGp"
    applicationId: 0x53494770,
    version: 3,
    tables: RECORD_TABLE,
    upgrade: { from: 2, run: dropLines },
  }, shown.unavailable);
  return shown.opened(keepRecordsInSqlite(file, shown.place));
}

/**
 * Drops the tables of version 2 that kept the lines of feeds. The pins stay, and
 * are read as they are (`pin_record.ts`).
 */
function dropLines(file: SqliteFile): void {
  const tables = file.sql(
    "SELECT name FROM sqlite_schema WHERE type='table' AND (name IN ('feed', 'attachment') OR name GLOB 'event_[0-9]*' OR name GLOB 'subject_[0-9]*')",
  ).all();
  for (const { name } of tables) file.exec(`DROP TABLE "${name}"`);
}

/**
 * The kind of the record that marks a store without pins of an earlier version.
 */
const VERSION = { name: "pin_store" };
const VERSION_ID = "version";

/** The time is irrelevant: this record does not expire. */
const ANY_TIME = new Date(0);

/**
 * Rejects a store with pins of an earlier version. They are under other keys
 * and can't be read, and their issuers must not be treated as seen for the
 * first time.
 */
async function requireNoOldPins(
  store: RecordStore,
  text: string,
  options: OpenStoreOptions,
): Promise<void> {
  if (await store.get(VERSION, VERSION_ID, ANY_TIME) !== undefined) return;
  const { place } = store;
  const hasOld = text.startsWith("kv:") ? hasOldKv : hasOldRedis;
  if (await hasOld(text, place, options)) {
    throw storeUnavailable(
      place,
      "it has pins of an earlier version of this program",
      undefined,
      "Name another store: each issuer is then seen for the first time.",
    );
  }
  const record = { text: "2", expiresAtMs: null };
  await store.put(VERSION, VERSION_ID, record, null, ANY_TIME);
}

async function hasOldKv(text: string, place: string): Promise<boolean> {
  const { openKvDatabase } = await import("../store/kv_connection.ts");
  const database = await openKvDatabase(
    text.slice("kv:".length) || undefined,
    storeUnavailable.bind(undefined, place),
  );
  try {
    return await database.run(async (kv) => {
      const old = kv.list({ prefix: ["sig", "pins"] }, { limit: 1 });
      return !(await old.next()).done;
    });
  } finally {
    await database.close();
  }
}

async function hasOldRedis(
  text: string,
  place: string,
  { password }: OpenStoreOptions,
): Promise<boolean> {
  const { connectRedis, parseRedisUrl } = await import(
    "../store/redis_connection.ts"
  );
  const address = parseRedisUrl(text);
  const redis = await connectRedis(
    password === undefined ? address : { ...address, password },
    { unavailable: storeUnavailable.bind(undefined, place) },
  );
  try {
    const exists = "return redis.call('SMEMBERS', KEYS[1])";
    return (await redis.run(exists, ["sig:pins"], [])).length > 0;
  } finally {
    await redis.close();
  }
}
