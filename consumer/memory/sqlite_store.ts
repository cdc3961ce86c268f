/** The pin store in a SQLite file, which the processes of a machine share. @module */

import type { Unavailable } from "../store/record_store.ts";
import { SqliteFile, type SqliteSchema } from "../store/sqlite_file.ts";
import { keepRecordsInSqlite, RECORD_TABLE } from "../store/sqlite_records.ts";
import { upgradeOldTables } from "./old_memory.ts";
import type { PinStore } from "./pin_store.ts";
import { LINE_TABLES, SqliteLines } from "./sqlite_lines.ts";

const TABLES = RECORD_TABLE + LINE_TABLES;

const schemaOf = (unavailable: Unavailable): SqliteSchema => ({
  // "SIGp"
  applicationId: 0x53494770,
  version: 2,
  tables: TABLES,
  upgrade(database) {
    database.exec(TABLES);
    upgradeOldTables(database, unavailable);
  },
});

/**
 * Opens the pin store in a file, which is made if it is missing, in a folder
 * that must be there.
 *
 * @throws {SigError} `store_unavailable`
 */
export async function openSqliteStore(
  path: string,
  { place, unavailable }: {
    readonly place: string;
    readonly unavailable: Unavailable;
  },
): Promise<PinStore> {
  const file = await SqliteFile.open(path, schemaOf(unavailable), {
    unavailable,
  });
  return {
    ...keepRecordsInSqlite(file, place, unavailable),
    lines: new SqliteLines(file, unavailable),
  };
}
