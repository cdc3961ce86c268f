/** Opens a pin store by its location, such as the value of `--pins`. @module */

import { SigError } from "@sig/core";
import {
  hasStoreScheme,
  openStore,
  type OpenStoreOptions,
  ShownPlace,
  storeForms,
} from "../store/open_store.ts";
import type { RecordStore } from "../store/record_store.ts";
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
  if (hasStoreScheme(text)) return await openStore(text, options);
  // A word before a colon is a misspelt scheme (one letter is a drive of
  // Windows): a file with this name would be a new, empty memory.
  if (text === "" || /^[a-z]{2,}:|:\/\/|^rediss?\/\//i.test(text)) {
    // The text is not shown: a mistyped URL may contain a password.
    throw new SigError("invalid_request", {
      action: "open pin store",
      reason: `it must be ${storeForms("a file")}`,
      context: { hint: "Write ./NAME for a file whose name has a colon." },
    });
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
