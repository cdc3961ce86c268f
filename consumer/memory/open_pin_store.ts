/** Opens the pin store that a text names, such as that of `--pins`. @module */

import { SigError } from "@sig/core";
import {
  openStore,
  type OpenStoreOptions,
  ShownPlace,
} from "../store/open_store.ts";
import type { PinStore } from "./pin_store.ts";
import { SqliteFile } from "../store/sqlite_file.ts";
import { keepRecordsInSqlite, RECORD_TABLE } from "../store/sqlite_records.ts";
import { takeOverOldPins, upgradeOldTables } from "./old_memory.ts";
import { LINE_TABLES, SqliteLines } from "./sqlite_lines.ts";

/**
 * Opens the pin store that a text names: the path of a file (SQLite), `kv:PATH`
 * (Deno KV in a file), `kv:` (the platform's own database, as on Deno Deploy),
 * `redis://[user:password@]host[:port][/database]`, or `rediss://…` for TLS. A
 * driver is loaded only when it is named.
 *
 * @throws {SigError} `invalid_request` for a text that does not name a store;
 * `store_unavailable` when it can't be opened. Neither shows the credentials of
 * a URL.
 */
export async function openPinStore(
  text: string,
  options: OpenStoreOptions = {},
): Promise<PinStore> {
  if (/^(?:rediss?|kv):/.test(text)) {
    const store = await openStore(text, options);
    await takeOverOldPins(store, text, options);
    return store;
  }
  // Not shown: a mistyped URL may contain a password.
  if (text === "" || /:\/\/|^rediss?\/\//i.test(text)) {
    throw new SigError(
      "invalid_request",
      "Cannot open pin store: it must be a file, kv:PATH, redis://HOST or rediss://HOST",
    );
  }
  const shown = new ShownPlace(text, options);
  return shown.opened(await openSqliteStore(text, shown));
}

const TABLES = RECORD_TABLE + LINE_TABLES;

/** Opens the pin store in a file, which is created if it is missing. */
async function openSqliteStore(
  path: string,
  shown: ShownPlace,
): Promise<PinStore> {
  const { unavailable } = shown;
  const file = await SqliteFile.open(path, {
    // "SIGp"
    applicationId: 0x53494770,
    version: 2,
    tables: TABLES,
    upgrade(database) {
      database.exec(TABLES);
      upgradeOldTables(database, unavailable);
    },
  }, unavailable);
  return {
    ...keepRecordsInSqlite(file, shown.place),
    lines: new SqliteLines(file),
  };
}
