/** The part of `node:sqlite` that is used, loaded when it is needed. @module */

import { loadBuiltin } from "@sig/jose";

/** A value of a column. */
export type SqlValue = string | number | null | Uint8Array;

/** A row by column names. */
export type SqlRow = { readonly [column: string]: unknown };

/** A prepared statement. */
export interface SqlStatement {
  /** The first row, undefined when there is none. */
  get(...parameters: SqlValue[]): SqlRow | undefined;
  /** Every row. */
  all(...parameters: SqlValue[]): readonly SqlRow[];
  /** Runs it for its effect. */
  run(...parameters: SqlValue[]): unknown;
}

/** An open database. */
export interface SqlDatabase {
  /** Runs statements without parameters. */
  exec(sql: string): void;
  /** Prepares one statement. */
  prepare(sql: string): SqlStatement;
  /** Closes it. */
  close(): void;
}

interface SqliteModule {
  readonly DatabaseSync: new (path: string) => SqlDatabase;
}

/** Opens a database, or returns undefined where the platform has no SQLite. */
export function openDatabase(path: string): SqlDatabase | undefined {
  const sqlite = loadBuiltin("node:sqlite") as SqliteModule | undefined;
  return sqlite === undefined ? undefined : new sqlite.DatabaseSync(path);
}
