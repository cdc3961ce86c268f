/** The index beside a feed, in SQLite and in memory. @module */

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

/** Where a line stands in the feed. */
export interface LinePlace {
  /** Bytes of the feed before it. */
  readonly offset: number;
  /** Its bytes, without the LF. */
  readonly bytes: number;
}

/** What the index knows of one relationship, and where its last event stands. */
export interface IndexedRelationship extends PastRelationship, LinePlace {
  /** Unique in the feed. */
  readonly relationship_id: string;
  /** The party that its first upsert names: where the state tree has it. */
  readonly home: string;
  /** Sequence of its last event. */
  readonly last_sequence: number;
}

/** Where an event stands in the feed. */
export interface IndexedEvent extends LinePlace {
  /** Its sequence. */
  readonly sequence: number;
}

/** An event that is not in the file, and its relationship after it, if any. */
interface PendingEvent extends IndexedEvent {
  readonly relationship: IndexedRelationship | undefined;
}

/**
 * How far the feed has been verified. The last line is kept byte for byte: an
 * index that belongs to another or an older feed is recognised by it.
 */
export interface FeedHead {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Which file it is: {@linkcode OpenFeed.identity}. */
  readonly identity: string;
  /** Bytes of the feed up to here, all of them verified and durable. */
  readonly bytes: number;
  /** Sequence of the last event, 0 before the first. */
  readonly sequence: number;
  /** The latest `issued_at` so far, null before the first event. */
  readonly latest_issued_at: string | null;
  /** The last line without its LF; empty before the first event. */
  readonly last_line: Uint8Array;
}

/** An index that can't be used. The feed is not affected. */
export class IndexError extends Error {
  /** Always `IndexError`. */
  override readonly name = "IndexError";
}

/**
 * Finds events and relationships without reading the feed. It is a cache: it
 * may be behind the feed or empty, and is made again from the feed when it does
 * not fit. It is not believed either: what it says is held against the lines
 * that it points to. Used under the store's lock only.
 *
 * New events are kept in memory until `flush` writes them to the file. Without
 * a file, or where SQLite is absent or the file can't be used even after it was
 * made again, they stay there: after a restart the whole feed is verified once.
 *
 * Every method but `reset` and `discard` may throw {@linkcode IndexError}; the
 * caller then calls `discard` and starts over.
 *
 * @example In memory, for stores of one's own
 * ```ts
 * import { FeedIndex } from "@sig/issuer";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(new FeedIndex().head, undefined);
 * ```
 */
export class FeedIndex implements PastEvents {
  /** Undefined: all is kept in memory. */
  #path: string | undefined;
  #open: sqlite.DatabaseSync | undefined;
  readonly #statements = new Map<string, sqlite.StatementSync>();
  #resets = 0;
  #head: FeedHead | undefined;
  /** Bytes of the feed that the file has at least. */
  #base = 0;
  /** By event_id, in the order of the feed. */
  readonly #pending = new Map<string, PendingEvent>();
  /** What pending events have made of relationships. */
  readonly #relationships = new Map<string, IndexedRelationship>();

  /**
   * Makes an index; nothing is opened yet.
   *
   * @param path The file (default: none).
   */
  constructor(path?: string) {
    this.#path = path;
  }

  /** How far this process has verified the feed; what is pending included. */
  get head(): FeedHead | undefined {
    return this.#head;
  }

  /** Events that are not in the file yet. */
  get pending(): number {
    return this.#path === undefined ? 0 : this.#pending.size;
  }

  /** How far the file goes; undefined when it is empty. */
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

  /** Whether the file and what is pending are without a gap up to the head. */
  continues(stored: FeedHead): boolean {
    const head = this.#head;
    return head !== undefined && isOfSameFeed(stored, head) &&
      stored.bytes >= this.#base && stored.bytes <= head.bytes;
  }

  /** Continues from a place in the feed; events pending after another are dropped. */
  startFrom(head: FeedHead): void {
    if (head === this.#head) return;
    this.#drop();
    this.#head = head;
    this.#base = head.bytes;
  }

  /** Whether an event has this `event_id`. */
  hasEvent(eventId: string): boolean {
    return this.event(eventId) !== undefined;
  }

  /** An event by its `event_id`. */
  event(eventId: string): IndexedEvent | undefined {
    const pending = this.#pending.get(eventId);
    if (pending !== undefined || this.#path === undefined) return pending;
    const sql = "SELECT * FROM events WHERE event_id = ?";
    const [row] = this.#select(sql, eventId);
    return row && { sequence: integer(row.sequence), ...placeOf(row) };
  }

  /** A relationship by its `relationship_id`. */
  relationship(id: string): IndexedRelationship | undefined {
    const pending = this.#relationships.get(id);
    if (pending !== undefined || this.#path === undefined) return pending;
    const sql = "SELECT * FROM relationships WHERE relationship_id = ?";
    const [row] = this.#select(sql, id);
    return row && relationshipOf(row);
  }

  /**
   * The active relationships whose last upsert names this subject, those with
   * the latest events first, at most so many.
   */
  activeOf(subject: string, most: number): readonly IndexedRelationship[] {
    const pending = [...this.#relationships.values()]
      .filter((each) => each.subject === subject && !each.revoked)
      .sort((a, b) => b.last_sequence - a.last_sequence);
    if (this.#path === undefined) return pending.slice(0, most);
    // Each pending one may stand in the place of one in the file.
    const limit = most + this.#relationships.size;
    const stored = this.#select(ACTIVE_OF, subject, limit).map(relationshipOf)
      .filter(({ relationship_id: id }) => !this.#relationships.has(id));
    return [...pending, ...stored].slice(0, most);
  }

  /** Adds the event that follows the head, and its line. */
  add(event: SigEvent, line: Uint8Array): void {
    const { event_id, relationship_id: id, sequence } = event;
    const head = this.#head!;
    const place = { offset: head.bytes, bytes: line.length };
    const relationship = after(event, this.relationship(id), place);
    this.#pending.set(event_id, { sequence, ...place, relationship });
    if (relationship !== undefined) this.#relationships.set(id, relationship);
    this.#head = {
      ...head,
      bytes: head.bytes + line.length + 1,
      sequence,
      latest_issued_at: later(head.latest_issued_at, event.issued_at),
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
   * Writes what is pending to the file, except what it knows by now. The feed
   * must be durable up to there.
   *
   * @throws {IndexError} when the file was emptied meanwhile: with a gap in it
   * an event_id could be given twice. What is pending is dropped then.
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
   * Forgets everything, but for evidence: a feed that lacks the last line of
   * such a head has lost events. It fits no feed any more.
   *
   * @param stored Kept in the file.
   * @param seen Kept by this process.
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

  /** Empties an index that can't be used; what it has known stays evidence. */
  discard(): void {
    let known = this.#head;
    try {
      known ??= this.stored();
    } catch (error) {
      if (!(error instanceof IndexError)) throw error;
    }
    this.reset(known);
  }

  /** Closes its file. */
  close(): void {
    const open = this.#open;
    this.#open = undefined;
    this.#statements.clear();
    try {
      open?.close();
    } catch {
      // Nothing in it is needed: the feed is what counts.
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
      // A third failure in one life of the process is not bad luck.
      if (++this.#resets > 2) this.#path = undefined;
      else for (const end of ["", "-wal", "-shm"]) removeFile(this.#path + end);
    } catch {
      this.#path = undefined;
    }
  }

  /** Writes the pending events that begin after so many bytes, and the head. */
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
          const { home, relationship_id, revoked, subject } = relationship;
          const status = revoked ? "revoked" : "active";
          putRelationship.run(relationship_id, subject, home, status, ...place);
        }
        statement("REPLACE INTO mark VALUES (0, ?, ?, ?, ?, ?, ?)").run(
          ...[head.issuer, head.identity, head.bytes, head.sequence],
          ...[head.latest_issued_at, head.last_line],
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

  /** Whatever SQLite says, it means one thing: this index can't be used. */
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

/** The relationship after an event; undefined where there is none. */
function after(
  event: SigEvent,
  before: IndexedRelationship | undefined,
  place: LinePlace,
): IndexedRelationship | undefined {
  const last = { last_sequence: event.sequence, ...place };
  if (isRevoke(event)) return before && { ...before, revoked: true, ...last };
  const { relationship_id, subject } = event;
  const home = before?.home ?? subject;
  return { relationship_id, subject, home, revoked: false, ...last };
}

function later(a: string | null, b: string): string {
  const first = parseTimestamp(a);
  const second = parseTimestamp(b);
  if (a === null || !first || !second) return b;
  return compareInstants(first, second) >= 0 ? a : b;
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

const ACTIVE_OF =
  "SELECT * FROM relationships WHERE subject = ? AND status = 'active' ORDER BY last_sequence DESC LIMIT ?";

function openFile(path: string): sqlite.DatabaseSync {
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
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Opens a database, or returns undefined where the platform has no SQLite. */
export function openDatabase(path: string): sqlite.DatabaseSync | undefined {
  const module = loadBuiltin("node:sqlite") as typeof sqlite | undefined;
  return module === undefined ? undefined : new module.DatabaseSync(path);
}

type Row = Readonly<Record<string, sqlite.SQLOutputValue>>;

function relationshipOf(row: Row): IndexedRelationship {
  return {
    relationship_id: text(row.relationship_id),
    subject: text(row.subject),
    home: text(row.home),
    revoked: text(row.status) === "revoked",
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
