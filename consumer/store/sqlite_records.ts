/** Records in a SQLite file. @module */

import type { SQLOutputValue } from "node:sqlite";
import {
  kindFull,
  type RecordStore,
  requireRecordSize,
  type StoredRecord,
  type Unavailable,
} from "./record_store.ts";
import type { SqliteFile } from "./sqlite_file.ts";

const PAGE_RECORDS = 500;

export const RECORD_TABLE = `
CREATE TABLE record (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  version TEXT NOT NULL,
  expires_at REAL,
  text TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;
CREATE INDEX record_expiry ON record (kind, expires_at)
  WHERE expires_at IS NOT NULL;
`;

const IS_LIVE = "(expires_at IS NULL OR expires_at > ?)";

/** Creates a record store in a file that has the {@linkcode RECORD_TABLE}. */
export function keepRecordsInSqlite(
  file: SqliteFile,
  place: string,
): RecordStore {
  const { unavailable } = file;
  const find = (kind: string, id: string, at: Date) => {
    const row = file.sql(
      `SELECT * FROM record WHERE kind=? AND id=? AND ${IS_LIVE}`,
    ).get(kind, id, at.getTime());
    return row && recordOf(row, unavailable);
  };
  return {
    place,
    get: ({ name }, id, at) =>
      file.transaction("read", () => find(name, id, at)),
    put(kind, id, { text, expiresAtMs }, over, at) {
      const { name, maxRecords = Infinity } = kind;
      return file.transaction("write", () => {
        requireRecordSize(text, unavailable);
        const old = find(name, id, at);
        if ((old?.version ?? null) !== over) return false;
        file.sql("DELETE FROM record WHERE kind=? AND expires_at<=?")
          .run(name, at.getTime());
        if (old === undefined && maxRecords < Infinity) {
          const { n } = file.sql(
            "SELECT count(*) AS n FROM record WHERE kind=?",
          ).get(name)!;
          if (Number(n) >= maxRecords) throw kindFull(kind);
        }
        file.sql("INSERT OR REPLACE INTO record VALUES (?, ?, ?, ?, ?)")
          .run(name, id, crypto.randomUUID(), expiresAtMs, text);
        return true;
      });
    },
    take: ({ name }, id, at) =>
      file.transaction("write", () => {
        const record = find(name, id, at);
        if (record === undefined) return undefined;
        file.sql("DELETE FROM record WHERE kind=? AND id=?").run(name, id);
        return record;
      }),
    list: ({ name }, at, from = "") =>
      file.transaction("read", () => {
        const rows = file.sql(
          `SELECT * FROM record WHERE kind=? AND ${IS_LIVE} AND id>? ORDER BY id LIMIT ${PAGE_RECORDS}`,
        ).all(name, at.getTime(), from);
        const records = rows.map((row) => ({
          id: String(row.id),
          ...recordOf(row, unavailable),
        }));
        const next = records.at(-1)?.id;
        return rows.length < PAGE_RECORDS || next === undefined
          ? { records }
          : { records, next };
      }),
    close() {
      file.close();
      return Promise.resolve();
    },
  };
}

function recordOf(
  { version, text, expires_at: expiresAtMs }: Record<string, SQLOutputValue>,
  unavailable: Unavailable,
): StoredRecord {
  if (
    typeof version !== "string" || typeof text !== "string" ||
    !(expiresAtMs === null || typeof expiresAtMs === "number")
  ) throw unavailable("a record is damaged");
  return { version, text, expiresAtMs };
}
