/** The file of a feed's index, in SQLite. @module */

import type * as sqlite from "node:sqlite";
import type { PastRelationship } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import { removeFile, tryOpenFile } from "../disk/disk.ts";

/** The position of a line in the feed. */
export interface LinePlace {
  /** Number of bytes of the feed before the line. */
  readonly offset: number;
  /** Length in bytes, without the LF. */
  readonly bytes: number;
}

/** An indexed relationship, with the position of its last event. */
export interface IndexedRelationship extends PastRelationship, LinePlace {
  /** Identifier, unique in the feed. */
  readonly relationship_id: string;
  /** The subject of its first upsert, under which the state tree stores it. */
  readonly home: string;
  /**
   * Whether it has only void events (docs/protocol.md §14.2): readers do not
   * know it, but another subject must not use its id. It counts as revoked.
   */
  readonly isVoid: boolean;
  /** Sequence of its last event. */
  readonly last_sequence: number;
}

/** An indexed event: its position and sequence. */
export interface IndexedEvent extends LinePlace {
  /** Its sequence. */
  readonly sequence: number;
}

/** An event that is not in the file yet, and its relationship after it. */
export interface PendingEvent extends IndexedEvent {
  /** Undefined if the event changes none. */
  readonly relationship: IndexedRelationship | undefined;
}

/**
 * The end of the verified part of the feed. The last line is kept byte for
 * byte, to detect an index of another or an older feed.
 */
export interface FeedHead {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Identity of the feed's file: {@linkcode OpenFeed.identity}. */
  readonly identity: string;
  /** Number of verified and durable bytes of the feed. */
  readonly bytes: number;
  /** Sequence of the last event, 0 before the first. */
  readonly sequence: number;
  /** The latest `issued_at` so far, null before the first event. */
  readonly latest_issued_at: string | null;
  /** The last line without its LF; empty before the first event. */
  readonly last_line: Uint8Array;
}

/** Thrown if the index can't be used. The feed is not affected. */
export class IndexError extends Error {
  /** Always `IndexError`. */
  override readonly name = "IndexError";
}

/**
 * The file of an index. Every method but `close` may throw {@linkcode
 * IndexError}, since every error of SQLite means that the index can't be used.
 */
export class IndexFile {
  readonly #path: string;
  #open: sqlite.DatabaseSync | undefined;
  readonly #statements = new Map<string, sqlite.StatementSync>();

  /** The file is opened or created at the first use. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the head, or undefined if the file is empty. */
  head(): FeedHead | undefined {
    const [row] = this.#select("SELECT * FROM mark");
    if (row === undefined) return undefined;
    const { last_line, latest_issued_at: latest } = row;
    if (!(last_line instanceof Uint8Array)) throw damaged();
    return {
      issuer: text(row.issuer),
      identity: text(row.identity),
      bytes: integer(row.bytes),
      sequence: integer(row.sequence),
      latest_issued_at: latest === null ? null : text(latest),
      last_line,
    };
  }

  event(eventId: string): IndexedEvent | undefined {
    const sql = "SELECT * FROM events WHERE event_id = ?";
    const [row] = this.#select(sql, eventId);
    return row && { sequence: integer(row.sequence), ...placeOf(row) };
  }

  relationship(id: string): IndexedRelationship | undefined {
    const sql = "SELECT * FROM relationships WHERE relationship_id = ?";
    const [row] = this.#select(sql, id);
    return row && relationshipOf(row);
  }

  /** Returns the relationships of a subject, latest events first. */
  ofSubject(
    subject: string,
    status: "active" | "revoked",
    most: number,
  ): readonly IndexedRelationship[] {
    return this.#select(OF_SUBJECT, subject, status, most).map(relationshipOf);
  }

  /** Writes events by `event_id`, and the head after them, all or nothing. */
  write(
    head: FeedHead,
    events: Iterable<readonly [eventId: string, event: PendingEvent]>,
  ): void {
    this.#use((statement, database) => {
      const putEvent = statement("INSERT INTO events VALUES (?, ?, ?, ?)");
      const putRelationship = statement(
        "REPLACE INTO relationships VALUES (?, ?, ?, ?, ?, ?, ?)",
      );
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const [id, { bytes, offset, relationship, sequence }] of events) {
          const place = [sequence, offset, bytes] as const;
          putEvent.run(id, ...place);
          if (relationship === undefined) continue;
          const { home, isVoid, relationship_id, revoked, subject } =
            relationship;
          const status = isVoid ? "void" : revoked ? "revoked" : "active";
          putRelationship.run(relationship_id, subject, home, status, ...place);
        }
        statement("REPLACE INTO mark VALUES (0, ?, ?, ?, ?, ?, ?)").run(
          head.issuer,
          head.identity,
          head.bytes,
          head.sequence,
          head.latest_issued_at,
          head.last_line,
        );
        database.exec("COMMIT");
      } catch (error) {
        database.exec("ROLLBACK");
        throw error;
      }
    });
  }

  /** Removes the closed file; a later use creates it again. */
  remove(): void {
    for (const end of ["", "-wal", "-shm"]) removeFile(this.#path + end);
  }

  close(): void {
    const open = this.#open;
    this.#open = undefined;
    this.#statements.clear();
    try {
      open?.close();
    } catch {
      // Ignored: the index can be rebuilt from the feed.
    }
  }

  #select(sql: string, ...values: sqlite.SQLInputValue[]): readonly Row[] {
    return this.#use((statement) => statement(sql).all(...values));
  }

  #use<T>(
    work: (
      statement: (sql: string) => sqlite.StatementSync,
      database: sqlite.DatabaseSync,
    ) => T,
  ): T {
    try {
      const database = this.#open ??= openFile(this.#path);
      return work((sql) => {
        const known = this.#statements.get(sql) ?? database.prepare(sql);
        this.#statements.set(sql, known);
        return known;
      }, database);
    } catch (cause) {
      throw new IndexError("Cannot use the index", { cause });
    }
  }
}

/** Schema version: an index of another version is rebuilt. */
const SCHEMA_VERSION = 6;

// With a write-ahead log and NORMAL, a commit needs no flush. After a power cut
// the file is intact and at worst behind, which is sufficient.
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
CREATE INDEX by_subject ON relationships (subject, status, last_sequence);
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

const OF_SUBJECT =
  "SELECT * FROM relationships WHERE subject = ? AND status = ? ORDER BY last_sequence DESC LIMIT ?";

function openFile(path: string): sqlite.DatabaseSync {
  // Created before SQLite does, which applies the umask; its log inherits the
  // bits.
  tryOpenFile(path, { write: true, createNew: true, mode: 0o600 })?.close();
  const module = loadBuiltin("node:sqlite") as typeof sqlite | undefined;
  if (module === undefined) throw new IndexError("Cannot find SQLite");
  const database = new module.DatabaseSync(path);
  try {
    database.exec(SETTINGS);
    const version = database.prepare("PRAGMA user_version").get()?.user_version;
    if (version === 0) database.exec(SCHEMA);
    else if (version !== SCHEMA_VERSION) {
      throw new IndexError("Cannot use an index of another version");
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

type Row = Readonly<Record<string, sqlite.SQLOutputValue>>;

function relationshipOf(row: Row): IndexedRelationship {
  const status = text(row.status);
  return {
    relationship_id: text(row.relationship_id),
    subject: text(row.subject),
    home: text(row.home),
    isVoid: status === "void",
    revoked: status !== "active",
    last_sequence: integer(row.last_sequence),
    ...placeOf(row),
  };
}

function placeOf(row: Row): LinePlace {
  return { offset: integer(row.offset), bytes: integer(row.bytes) };
}

function text(value: unknown): string {
  if (typeof value === "string") return value;
  throw damaged();
}

function integer(value: unknown): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw damaged();
}

/** A column of another type means a damaged or foreign file. */
function damaged(): IndexError {
  return new IndexError("Cannot read the index: a column has another type");
}
