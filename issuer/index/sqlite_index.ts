/** The index beside the feed, in SQLite. @module */

import type * as sqlite from "node:sqlite";
import { loadBuiltin } from "@sig/jose/internal";
import type {
  DatabaseSync,
  SQLInputValue,
  SQLOutputValue,
  StatementSync,
} from "node:sqlite";
import { removeFile, tryOpenFile } from "../disk/disk.ts";
import {
  createMemoryIndex,
  type FeedHead,
  type FeedIndex,
  type IndexedEvent,
  type IndexedRelationship,
  type IndexEntry,
  IndexError,
} from "./feed_index.ts";

/** An index that is held open. */
export interface ClosableIndex extends FeedIndex {
  /** Closes its file. */
  close(): void;
}

/**
 * The index in a file of its own. Where SQLite is absent or the file can't be
 * used even after it was made again, the index is kept in memory.
 */
export function createSqliteIndex(path: string): ClosableIndex {
  return new SqliteIndex(path);
}

/** Changes when the tables do: an index of another version is made again. */
const SCHEMA_VERSION = 4;

// With a write-ahead log and NORMAL, a commit costs no flush, and after a power
// cut the file is whole and at worst behind, which is all that is asked of it.
const SETTINGS = `
PRAGMA busy_timeout = 5000;
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
`;

const SCHEMA = `
BEGIN IMMEDIATE;
CREATE TABLE events (
  event_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE relationships (
  relationship_id TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  home TEXT NOT NULL,
  status TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  offset INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX active_by_subject ON relationships (subject, last_sequence)
  WHERE status = 'active';
CREATE TABLE mark (
  id INTEGER PRIMARY KEY CHECK (id = 0),
  issuer TEXT NOT NULL,
  identity TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sequence INTEGER NOT NULL,
  latest_issued_at TEXT,
  last_line BLOB NOT NULL
);
PRAGMA user_version = ${SCHEMA_VERSION};
COMMIT;
`;

type Row = Readonly<Record<string, SQLOutputValue>>;

interface Open {
  readonly database: DatabaseSync;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly getMark: StatementSync;
  readonly putMark: StatementSync;
  readonly getEvent: StatementSync;
  readonly putEvent: StatementSync;
  readonly getRelationship: StatementSync;
  readonly getActiveOf: StatementSync;
  readonly putRelationship: StatementSync;
}

class SqliteIndex implements ClosableIndex {
  readonly #path: string;
  #open: Open | undefined;
  /** In use instead of the file, once that has proved unusable. */
  #instead: FeedIndex | undefined;
  #resets = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * Another process that resets the index removes the files; what is open here
   * stays as it is.
   */
  get epoch(): number {
    return this.#resets;
  }

  mark(): FeedHead | undefined {
    if (this.#instead) return this.#instead.mark();
    const row = this.#try((open) => open.getMark.get());
    if (row === undefined) return undefined;
    return {
      issuer: text(row, "issuer"),
      identity: text(row, "identity"),
      bytes: integer(row, "bytes"),
      sequence: integer(row, "sequence"),
      latest_issued_at: row.latest_issued_at === null
        ? null
        : text(row, "latest_issued_at"),
      last_line: blob(row, "last_line"),
    };
  }

  event(eventId: string): IndexedEvent | undefined {
    if (this.#instead) return this.#instead.event(eventId);
    const row = this.#try((open) => open.getEvent.get(eventId));
    return row && {
      event_id: eventId,
      sequence: integer(row, "sequence"),
      offset: integer(row, "offset"),
      bytes: integer(row, "bytes"),
    };
  }

  relationship(relationshipId: string): IndexedRelationship | undefined {
    if (this.#instead) return this.#instead.relationship(relationshipId);
    const row = this.#try((open) => open.getRelationship.get(relationshipId));
    return row && relationshipOf(row);
  }

  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    if (this.#instead) return this.#instead.activeOf(subject, most);
    const rows = this.#try((open) => open.getActiveOf.all(subject, most));
    return rows.map(relationshipOf);
  }

  add(entries: readonly IndexEntry[], mark: FeedHead): void {
    if (this.#instead) return this.#instead.add(entries, mark);
    this.#try((open) => {
      open.begin.run();
      try {
        for (const entry of entries) put(open, entry);
        open.putMark.run(
          mark.issuer,
          mark.identity,
          mark.bytes,
          mark.sequence,
          mark.latest_issued_at,
          mark.last_line,
        );
        open.commit.run();
      } catch (error) {
        open.database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  reset(): void {
    this.#resets++;
    if (this.#instead) return this.#instead.reset();
    // A third failure in one life of the process is not bad luck.
    if (this.#resets > 2) {
      this.#useMemory();
      return;
    }
    this.close();
    try {
      for (const suffix of ["", "-wal", "-shm"]) {
        removeFile(this.#path + suffix);
      }
    } catch {
      this.#useMemory();
    }
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    try {
      open?.database.close();
    } catch {
      // Nothing in it is needed: the feed is what counts.
    }
  }

  #useMemory(): void {
    this.close();
    this.#instead = createMemoryIndex();
  }

  /** Whatever SQLite says, it means one thing: this index can't be used. */
  #try<T>(work: (open: Open) => T): T {
    try {
      this.#open ??= openIndex(this.#path);
      return work(this.#open);
    } catch (cause) {
      throw new IndexError("Cannot use the index", { cause });
    }
  }
}

function openIndex(path: string): Open {
  // Before SQLite makes it, which asks the umask; its log takes over the bits.
  tryOpenFile(path, { write: true, createNew: true, mode: 0o600 })?.close();
  const database = openDatabase(path);
  if (database === undefined) throw new IndexError("Cannot find SQLite");
  try {
    database.exec(SETTINGS);
    const version = database.prepare("PRAGMA user_version").get()?.user_version;
    if (version === 0) database.exec(SCHEMA);
    else if (version !== SCHEMA_VERSION) {
      throw new IndexError("Cannot use an index of another version");
    }
    return prepare(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

function prepare(database: DatabaseSync): Open {
  const statement = (sql: string) => database.prepare(sql);
  return {
    database,
    begin: statement("BEGIN IMMEDIATE"),
    commit: statement("COMMIT"),
    getMark: statement("SELECT * FROM mark"),
    putMark: statement("REPLACE INTO mark VALUES (0, ?, ?, ?, ?, ?, ?)"),
    getEvent: statement("SELECT * FROM events WHERE event_id = ?"),
    putEvent: statement("INSERT INTO events VALUES (?, ?, ?, ?)"),
    getRelationship: statement(
      "SELECT * FROM relationships WHERE relationship_id = ?",
    ),
    getActiveOf: statement(
      "SELECT * FROM relationships WHERE subject = ? AND status = 'active' ORDER BY last_sequence DESC LIMIT ?",
    ),
    putRelationship: statement(
      "REPLACE INTO relationships VALUES (?, ?, ?, ?, ?, ?, ?)",
    ),
  };
}

function put(open: Open, entry: IndexEntry): void {
  const event: SQLInputValue[] = [
    entry.event_id,
    entry.sequence,
    entry.offset,
    entry.bytes,
  ];
  open.putEvent.run(...event);
  const { relationship } = entry;
  if (relationship === undefined) return;
  open.putRelationship.run(
    relationship.relationship_id,
    relationship.subject,
    relationship.home,
    relationship.status,
    relationship.last_sequence,
    relationship.offset,
    relationship.bytes,
  );
}

function relationshipOf(row: Row): IndexedRelationship {
  return {
    relationship_id: text(row, "relationship_id"),
    subject: text(row, "subject"),
    home: text(row, "home"),
    status: text(row, "status") === "revoked" ? "revoked" : "active",
    last_sequence: integer(row, "last_sequence"),
    offset: integer(row, "offset"),
    bytes: integer(row, "bytes"),
  };
}

// A column of another type means a damaged or foreign file.
function text(row: Row, name: string): string {
  const value = row[name];
  if (typeof value === "string") return value;
  throw new IndexError(`Cannot read column ${name} of the index`);
}

function integer(row: Row, name: string): number {
  const value = row[name];
  if (Number.isSafeInteger(value)) return value as number;
  throw new IndexError(`Cannot read column ${name} of the index`);
}

function blob(row: Row, name: string): Uint8Array {
  const value = row[name];
  if (value instanceof Uint8Array) return value;
  throw new IndexError(`Cannot read column ${name} of the index`);
}

/** Opens a database, or returns undefined where the platform has no SQLite. */
export function openDatabase(path: string): sqlite.DatabaseSync | undefined {
  const module = loadBuiltin("node:sqlite") as typeof sqlite | undefined;
  return module === undefined ? undefined : new module.DatabaseSync(path);
}
