/** The part of `node:sqlite` that is used, loaded when it is needed. @module */

import { loadBuiltin } from "@sig/jose";

/** A value of a column. */
export type SqlValue = string | number | null;

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

/** What opens a database. */
export interface SqliteModule {
  /** Opens the file at the path, which is made if it is missing. */
  readonly DatabaseSync: new (path: string) => SqlDatabase;
}

/** Undefined where the platform has no SQLite. */
export function loadSqlite(): SqliteModule | undefined {
  return loadBuiltin("node:sqlite") as SqliteModule | undefined;
}
