/**
 * An index of a feed's events and relationships, in SQLite and in memory.
 *
 * @module
 */

import type * as sqlite from "node:sqlite";
import {
  compareInstants,
  isRevoke,
  parseTimestamp,
  type PastEvents,
  type PastRelationship,
  type SigEvent,
} from "@sig/core";
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
interface PendingEvent extends IndexedEvent {
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
 * The index of a store: the methods of {@linkcode FeedIndex}, which a store may
 * implement in another way.
 */
export type EventIndex = Pick<FeedIndex, keyof FeedIndex>;

/**
 * Finds events and relationships without reading the feed. The index is a
 * cache: it may be behind the feed or empty, and is rebuilt if it does not
 * match the feed. It is not trusted: results are compared with the feed lines
 * that they point to. Use it only under the store's lock.
 *
 * New events are kept in memory until `flush` writes them to the file. They
 * stay in memory if there is no file, no SQLite, or if rebuilding the file does
 * not help; after a restart the whole feed is then verified once.
 *
 * Every method but `reset` and `discard` may throw {@linkcode IndexError}; the
 * caller then calls `discard` and starts again.
 *
 * @example In memory, for your own stores
 * ```ts
 * import { FeedIndex } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new FeedIndex().head, undefined);
 * ```
 */
export class FeedIndex implements PastEvents {
  /** Path of the file; undefined keeps everything in memory. */
  #path: string | undefined;
  #open: sqlite.DatabaseSync | undefined;
  readonly #statements = new Map<string, sqlite.StatementSync>();
  #resets = 0;
  #head: FeedHead | undefined;
  /** Number of feed bytes that the file covers at least. */
  #base = 0;
  /** Events not yet in the file, by event_id, in the order of the feed. */
  readonly #pending = new Map<string, PendingEvent>();
  /** Relationships changed by pending events. */
  readonly #relationships = new Map<string, IndexedRelationship>();

  /**
   * Makes an index; the file is not opened yet.
   *
   * @param path path of the file (default: none).
   */
  constructor(path?: string) {
    this.#path = path;
  }

  /** The end of the feed that this process has verified. */
  get head(): FeedHead | undefined {
    return this.#head;
  }

  /** Number of events that are not in the file yet. */
  get pending(): number {
    return this.#path === undefined ? 0 : this.#pending.size;
  }

  /** Returns the head stored in the file, or undefined if the file is empty. */
  stored(): FeedHead | undefined {
    if (this.#path === undefined) return this.#head;
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

  /** Returns whether file and pending events have no gap up to the head. */
  continues(stored: FeedHead): boolean {
    const head = this.#head;
    return head !== undefined && isOfSameFeed(stored, head) &&
      stored.bytes >= this.#base && stored.bytes <= head.bytes;
  }

  /** Sets the head; drops pending events unless it is the current head. */
  startFrom(head: FeedHead): void {
    if (head === this.#head) return;
    this.#drop();
    this.#head = head;
    this.#base = head.bytes;
  }

  /** Returns whether an event has this `event_id`. */
  hasEvent(eventId: string): boolean {
    return this.event(eventId) !== undefined;
  }

  /** Returns an event by its `event_id`. */
  event(eventId: string): IndexedEvent | undefined {
    const pending = this.#pending.get(eventId);
    if (pending !== undefined || this.#path === undefined) return pending;
    const sql = "SELECT * FROM events WHERE event_id = ?";
    const [row] = this.#select(sql, eventId);
    return row && { sequence: integer(row.sequence), ...placeOf(row) };
  }

  /** Returns a relationship by its `relationship_id`. */
  relationship(id: string): IndexedRelationship | undefined {
    const pending = this.#relationships.get(id);
    if (pending !== undefined || this.#path === undefined) return pending;
    const sql = "SELECT * FROM relationships WHERE relationship_id = ?";
    const [row] = this.#select(sql, id);
    return row && relationshipOf(row);
  }

  /** Returns the active relationships of a subject, latest events first. */
  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    return this.#ofSubject(subject, "active", most);
  }

  /** Returns the relationship of a subject that was revoked last. */
  lastRevokedOf(subject: string): IndexedRelationship | undefined {
    return this.#ofSubject(subject, "revoked", 1)[0];
  }

  #ofSubject(
    subject: string,
    status: "active" | "revoked",
    most: number,
  ): readonly IndexedRelationship[] {
    const pending = [...this.#relationships.values()]
      .filter((each) =>
        each.subject === subject && !each.isVoid &&
        each.revoked === (status === "revoked")
      )
      .sort((a, b) => b.last_sequence - a.last_sequence);
    if (this.#path === undefined) return pending.slice(0, most);
    // Each pending relationship may replace one in the file.
    const limit = most + this.#relationships.size;
    const stored = this.#select(OF_SUBJECT, subject, status, limit)
      .map(relationshipOf)
      .filter(({ relationship_id: id }) => !this.#relationships.has(id));
    return [...pending, ...stored].slice(0, most);
  }

  /**
   * Adds the event that follows the head, and its line.
   *
   * @param isVoid Whether its key had ended.
   */
  add(event: SigEvent, line: Uint8Array, isVoid = false): void {
    const { event_id, relationship_id: id, sequence } = event;
    const head = this.#head!;
    const place = { offset: head.bytes, bytes: line.length };
    const relationship = after(event, this.relationship(id), place, isVoid);
    this.#pending.set(event_id, { sequence, ...place, relationship });
    if (relationship !== undefined) this.#relationships.set(id, relationship);
    this.#head = {
      ...head,
      bytes: head.bytes + line.length + 1,
      sequence,
      latest_issued_at: isVoid
        ? head.latest_issued_at
        : later(head.latest_issued_at, event.issued_at),
      last_line: line,
    };
  }

  /** Removes the events that were added after an earlier head. */
  rollBack(head: FeedHead): void {
    this.#relationships.clear();
    for (const [id, { relationship, sequence }] of this.#pending) {
      if (sequence > head.sequence) this.#pending.delete(id);
      else if (relationship !== undefined) {
        this.#relationships.set(relationship.relationship_id, relationship);
      }
    }
    this.#head = head;
  }

  /**
   * Writes the pending events that the file does not have yet. The feed must be
   * durable up to the head.
   *
   * @throws {IndexError} if the file was emptied concurrently: with a gap, an
   * event_id could be used twice. The pending events are then dropped.
   */
  flush(): void {
    const head = this.#head;
    if (this.#path === undefined || head === undefined) return;
    try {
      const stored = this.stored();
      const known = stored?.bytes ?? 0;
      const isSame = stored === undefined || isOfSameFeed(stored, head);
      if (!isSame || known < this.#base) {
        throw new IndexError("Cannot add to an index that has changed");
      }
      if (stored === undefined || known < head.bytes) this.#write(head, known);
    } catch (error) {
      this.#drop();
      throw error;
    }
    this.#drop();
    this.startFrom(head);
  }

  /**
   * Empties the index, except for the last line of the given heads: a feed that
   * lacks such a line has lost events. An index with only these lines matches
   * no feed.
   *
   * @param stored the head to keep in the file.
   * @param seen the head to keep in this process.
   */
  reset(stored?: FeedHead, seen?: FeedHead): void {
    this.#drop();
    this.#removeFile();
    let own = seen;
    try {
      if (this.#path === undefined) own ??= stored;
      else if (stored !== undefined) this.#write(evidenceOf(stored), 0);
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
      own ??= stored;
    }
    this.#head = own && evidenceOf(own);
  }

  /** Empties an index that can't be used, but keeps the last line it knows. */
  discard(): void {
    let known = this.#head;
    try {
      known ??= this.stored();
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
    }
    this.reset(known);
  }

  /** Closes the file. */
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

  #drop(): void {
    this.#pending.clear();
    this.#relationships.clear();
    this.#head = undefined;
  }

  #removeFile(): void {
    if (this.#path === undefined) return;
    this.close();
    try {
      // A third failure in one process is not accidental: keep the index in
      // memory.
      if (++this.#resets > 2) this.#path = undefined;
      else for (const end of ["", "-wal", "-shm"]) removeFile(this.#path + end);
    } catch {
      this.#path = undefined;
    }
  }

  /** Writes the head and the pending events after the first `known` bytes. */
  #write(head: FeedHead, known: number): void {
    this.#use((statement, database) => {
      const putEvent = statement("INSERT INTO events VALUES (?, ?, ?, ?)");
      const putRelationship = statement(
        "REPLACE INTO relationships VALUES (?, ?, ?, ?, ?, ?, ?)",
      );
      database.exec("BEGIN IMMEDIATE");
      try {
        for (const [id, event] of this.#pending) {
          const { bytes, offset, relationship, sequence } = event;
          if (offset < known) continue;
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

  #select(sql: string, ...values: sqlite.SQLInputValue[]): readonly Row[] {
    return this.#use((statement) => statement(sql).all(...values));
  }

  /** Every SQLite error means that this index can't be used. */
  #use<T>(
    work: (
      statement: (sql: string) => sqlite.StatementSync,
      database: sqlite.DatabaseSync,
    ) => T,
  ): T {
    try {
      const database = this.#open ??= openFile(this.#path!);
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

function isOfSameFeed(a: FeedHead, b: FeedHead): boolean {
  return a.issuer === b.issuer && a.identity === b.identity;
}

function evidenceOf(head: FeedHead): FeedHead {
  return { ...head, identity: "" };
}

/** Returns the relationship after an event, or undefined if none changes. */
function after(
  event: SigEvent,
  before: IndexedRelationship | undefined,
  place: LinePlace,
  isVoid: boolean,
): IndexedRelationship | undefined {
  const last = { last_sequence: event.sequence, ...place };
  if (isRevoke(event)) {
    return before === undefined || before.isVoid || isVoid
      ? undefined
      : { ...before, revoked: true, ...last };
  }
  if (before !== undefined && isVoid) return undefined;
  const { relationship_id, subject } = event;
  const home = before?.home ?? subject;
  return { relationship_id, subject, home, revoked: isVoid, isVoid, ...last };
}

function later(a: string | null, b: string): string {
  const first = parseTimestamp(a);
  const second = parseTimestamp(b);
  if (a === null || !first || !second) return b;
  return compareInstants(first, second) >= 0 ? a : b;
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
  const database = openDatabase(path);
  if (database === undefined) throw new IndexError("Cannot find SQLite");
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

/** Opens a database, or returns undefined if the platform has no SQLite. */
export function openDatabase(path: string): sqlite.DatabaseSync | undefined {
  const module = loadBuiltin("node:sqlite") as typeof sqlite | undefined;
  return module === undefined ? undefined : new module.DatabaseSync(path);
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
