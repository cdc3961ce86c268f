/** Stores verified lines of feeds in tables of a SQLite file. @module */

import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import {
  compareInstants,
  type Instant,
  isRevoke,
  isUpsert,
  type PastEvents,
  type SigEvent,
  type UnknownEvent,
} from "@sig/core";
import { joinBytes, validInstant } from "@sig/core/internal";
import type { RecordStore, Unavailable } from "../store/record_store.ts";
import type { SqliteFile } from "../store/sqlite_file.ts";
import { yieldToEventLoop } from "../verify/feed_verification.ts";
import {
  CHECKSUM_LENGTH,
  damagedPin,
  HistoryMoved,
  type StoredPin,
} from "./pin.ts";

/** A record store that may also keep verified lines. */
export interface PinStore extends RecordStore {
  /**
   * The lines; only a file (SQLite) has them.
   *
   * @internal
   */
  readonly lines?: SqliteLines;
}

/**
 * `feed` numbers the tables of lines and never reuses a number: a reader whose
 * feed was replaced finds no table. `attachment` holds the data that belongs to
 * an issuer's lines; its SHA-256 is in the pin.
 */
export const LINE_TABLES = `
CREATE TABLE feed (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  issuer TEXT NOT NULL
);
CREATE TABLE attachment (issuer TEXT PRIMARY KEY, bytes BLOB NOT NULL);
`;

const COLUMNS = `(
  sequence INTEGER PRIMARY KEY,
  event_id TEXT NOT NULL,
  relationship TEXT NOT NULL,
  subject TEXT NOT NULL,
  kind INTEGER NOT NULL,
  latest TEXT NOT NULL,
  line BLOB NOT NULL
)`;

/**
 * `subject_<n>` counts the lines of each subject, to detect a line whose
 * subject was altered. The index by kind is the smallest; it serves to count
 * all lines.
 */
const feedTables = (n: number) => `
CREATE TABLE event_${n} ${COLUMNS};
CREATE UNIQUE INDEX event_${n}_id ON event_${n} (event_id);
CREATE INDEX event_${n}_relationship ON event_${n} (relationship);
CREATE INDEX event_${n}_subject ON event_${n} (subject);
CREATE INDEX event_${n}_kind ON event_${n} (kind);
CREATE TABLE subject_${n} (
  subject TEXT PRIMARY KEY,
  lines INTEGER NOT NULL
) WITHOUT ROWID;
`;

const NEW_LINE_INDEXES = `
CREATE INDEX IF NOT EXISTS temp.new_line_id ON new_line (event_id);
CREATE INDEX IF NOT EXISTS temp.new_line_relationship
  ON new_line (relationship, sequence);
`;

const LF = Uint8Array.of(0x0a);

/** Number of lines copied between two turns of the event loop. */
const SLICE_LINES = 5_000;

/** Number of lines in one page of a whole feed. */
const PAGE_LINES = 500;

/** Number of events that a read of a feed holds in memory, about 20 MiB. */
const MAX_HELD_EVENTS = 100_000;

export const KIND = { upsert: 1, revoke: 2, other: 3 } as const;

export interface StoredLine {
  readonly sequence: number;
  readonly event_id: string;
  readonly relationship: string;
  readonly subject: string;
  /** The highest `issued_at` up to this line, as {@linkcode instantKey}. */
  readonly latest: string;
  /** The signed line, without its LF. */
  readonly line: Uint8Array<ArrayBuffer>;
}

interface FeedPlace {
  readonly issuer: string;
  readonly table: number;
}

/** What a question about some subjects needs. */
export interface LinesAbout {
  /**
   * All lines of all relationships that were ever about one of the subjects.
   */
  readonly lines: readonly StoredLine[];
  readonly named: readonly StoredLine[];
  /** The lines that prove a past time. */
  readonly around: readonly StoredLine[];
  /** For an instant: the number of events that were known then. */
  readonly events: number;
}

export class SqliteLines {
  readonly #file: SqliteFile;
  /** Lines of a table, counted once per version of the file. */
  #counted = { table: 0, dataVersion: -1, lines: 0, subjects: false };

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  /**
   * Starts to collect new lines of a feed; `table` has its known lines, if any.
   */
  begin(table: number | undefined): NewLines {
    return new NewLines(this.#file, table);
  }

  /**
   * Reads the attachment of an issuer's lines; undefined if it is damaged.
   *
   * @throws {HistoryMoved} if the pin now names a different attachment.
   */
  attachment(
    issuer: string,
    sha256: string,
  ): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#file.transaction("read", () => {
      if (this.#pinOf(issuer)?.lines?.sha256 !== sha256) {
        throw new HistoryMoved();
      }
      const bytes = this.#file.sql(
        "SELECT bytes FROM attachment WHERE issuer=?",
      ).get(issuer)?.bytes;
      return bytes instanceof Uint8Array
        ? bytes as Uint8Array<ArrayBuffer>
        : undefined;
    });
  }

  /**
   * Requires that nothing is stored of an issuer without a pin. Pin, lines and
   * attachment are written and removed in one transaction, so a leftover means
   * that the pin was removed by other means.
   *
   * @throws {SigError} `store_unavailable` if lines or an attachment are left.
   */
  requireForgotten(issuer: string): Promise<void> {
    return this.#file.transaction("read", () => {
      const { left } = this.#file.sql(`SELECT (
        EXISTS (SELECT 1 FROM feed WHERE issuer=?1) OR
        EXISTS (SELECT 1 FROM attachment WHERE issuer=?1)
      ) AND NOT EXISTS (
        SELECT 1 FROM record WHERE kind='pin' AND id=?1 AND expires_at IS NULL
      ) AS left`).get(issuer)!;
      if (left === 1) {
        throw damagedPin(
          this.#file.unavailable,
          `the pin of ${issuer} is missing: the store`,
        );
      }
    });
  }

  /** Removes an issuer: pin, lines and attachment. */
  remove(issuer: string): Promise<boolean> {
    return this.#file.transaction("write", () => {
      const feeds = dropFeeds(this.#file, issuer, null);
      const attachments = this.#file.sql(
        "DELETE FROM attachment WHERE issuer=?",
      ).run(issuer).changes;
      const pins =
        this.#file.sql("DELETE FROM record WHERE kind='pin' AND id=?")
          .run(issuer).changes;
      return feeds + Number(attachments) + Number(pins) > 0;
    });
  }

  /**
   * Reads the lines about some subjects, of some sequences, and around a past
   * time, in one transaction.
   *
   * @throws {SigError} `store_unavailable` if lines are missing.
   * @throws {HistoryMoved}
   */
  about(
    place: FeedPlace,
    { subjects, sequences, asOf }: {
      readonly subjects: readonly string[];
      readonly sequences: readonly number[];
      readonly asOf: number | Instant | undefined;
    },
  ): Promise<LinesAbout> {
    const { table } = place;
    return this.#file.transaction("read", () => {
      this.#requireWhole(place);
      const sql = (text: string) => this.#file.sql(text);
      const find = sql(`SELECT * FROM event_${table} WHERE sequence IN (
        SELECT sequence FROM event_${table} WHERE subject=?1
        UNION SELECT sequence FROM event_${table} WHERE relationship IN (
          SELECT relationship FROM event_${table} WHERE subject=?1)
      ) ORDER BY sequence`);
      const count = sql(`SELECT lines FROM subject_${table} WHERE subject=?`);
      const lines = new Map<number, StoredLine>();
      for (const subject of subjects) {
        let ofSubject = 0;
        for (const row of find.all(subject)) {
          const line = this.#lineOf(row);
          lines.set(line.sequence, line);
          if (line.subject === subject) ofSubject++;
        }
        if (Number(count.get(subject)?.lines ?? 0) !== ofSubject) {
          throw this.damaged(`the lines of ${place.issuer} about a subject`);
        }
        if (ofSubject === 0) this.#requireSubjects(place);
      }
      const sorted = [...lines.values()]
        .sort((a, b) => a.sequence - b.sequence);
      const named = this.#linesAt(table, sequences);
      return { lines: sorted, named, ...this.#around(table, asOf) };
    });
  }

  /**
   * Finds the latest line by an index, while a feed is continued. The index is
   * named because SQLite would otherwise scan all lines backwards.
   *
   * @throws {HistoryMoved}
   */
  find(
    place: FeedPlace,
    index: "id" | "relationship",
    where: string,
    ...values: readonly SQLInputValue[]
  ): StoredLine | undefined {
    return this.#file.attempt(() => {
      const { table } = place;
      this.#requireListed(place);
      const row = this.#file.sql(
        `SELECT * FROM event_${table} INDEXED BY event_${table}_${index} WHERE ${where} ORDER BY sequence DESC LIMIT 1`,
      ).get(...values);
      return row && this.#lineOf(row);
    });
  }

  /**
   * Reads the bytes of a feed, in chunks.
   *
   * @throws {HistoryMoved}
   */
  async *bytes(
    place: FeedPlace,
    lastSequence: number,
  ): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (let after = 0; after < lastSequence;) {
      const page = await this.#file.transaction("read", () => {
        this.#requireWhole(place);
        return this.#file.sql(
          `SELECT * FROM event_${place.table} WHERE sequence>? AND sequence<=? ORDER BY sequence LIMIT ${PAGE_LINES}`,
        ).all(after, lastSequence).map((row) => this.#lineOf(row));
      });
      yield joinBytes(page.flatMap(({ line }) => [line, LF]));
      after = page.at(-1)?.sequence ?? lastSequence;
    }
  }

  /** Returns `store_unavailable` for damaged data. */
  damaged(what: string): Error {
    return damagedLines(this.#file.unavailable, what);
  }

  /**
   * Reads the pin to compare it with the lines, without verifying its checksum.
   */
  #pinOf(issuer: string): Partial<StoredPin> | undefined {
    const record = this.#file.sql(
      "SELECT text FROM record WHERE kind='pin' AND id=?",
    ).get(issuer);
    try {
      return JSON.parse(String(record?.text).slice(CHECKSUM_LENGTH));
    } catch {
      return undefined;
    }
  }

  /** Requires that the list of feeds has the pin's lines. */
  #requireListed({ issuer, table }: FeedPlace): void {
    const { n } = this.#file.sql(
      "SELECT count(*) AS n FROM feed WHERE number=? AND issuer=?",
    ).get(table, issuer)!;
    if (n === 1) return;
    // The pin is read after the list: another process may have replaced the
    // lines.
    if (this.#pinOf(issuer)?.lines?.table !== table) throw new HistoryMoved();
    throw this.damaged(`the list of feeds has no lines of ${issuer}: it`);
  }

  /** The number of lines must equal the sequence of the pin. */
  #requireWhole({ issuer, table }: FeedPlace): void {
    this.#requireListed({ issuer, table });
    const { data_version } = this.#file.sql("PRAGMA data_version").get()!;
    const dataVersion = Number(data_version);
    const counted = this.#counted;
    if (counted.table !== table || counted.dataVersion !== dataVersion) {
      const { n } = this.#file.sql(
        `SELECT count(*) AS n FROM event_${table} INDEXED BY event_${table}_kind`,
      ).get()!;
      const { first, last } = this.#file.sql(
        `SELECT min(sequence) AS first, max(sequence) AS last FROM event_${table}`,
      ).get()!;
      // If the count equals the last sequence and the first is 1, no line is
      // missing.
      const isWhole = n === 0 || first === 1 && last === n;
      this.#counted = {
        table,
        dataVersion,
        subjects: false,
        lines: isWhole ? Number(n) : NaN,
      };
    }
    if (this.#counted.lines === this.#pinOf(issuer)?.pin?.sequence) return;
    throw this.damaged(
      `the lines of ${issuer} are not as many as its pin says: it`,
    );
  }

  /**
   * Requires that the counts of all subjects add up to all lines. Otherwise
   * lines are lost, and "no lines about this subject" would be unproven.
   */
  #requireSubjects(
    { issuer, table }: FeedPlace,
  ): void {
    if (this.#counted.subjects) return;
    const { n } = this.#file.sql(
      `SELECT coalesce(sum(lines), 0) AS n FROM subject_${table}`,
    ).get()!;
    if (Number(n) !== this.#counted.lines) {
      throw this.damaged(`the list of subjects of ${issuer}`);
    }
    this.#counted.subjects = true;
  }

  /**
   * Reads the event of a sequence; or the last event known at an instant and
   * its two neighbours.
   */
  #around(
    table: number,
    asOf: number | Instant | undefined,
  ): Pick<LinesAbout, "around" | "events"> {
    if (asOf === undefined) return { around: [], events: 0 };
    const linesAt = (...sequences: readonly number[]) =>
      this.#linesAt(table, sequences);
    if (typeof asOf === "number") return { around: linesAt(asOf), events: 0 };
    const key = instantKey(asOf);
    let low = 0;
    for (let high = this.#counted.lines; low < high;) {
      const middle = (low + high + 1) >> 1;
      if (linesAt(middle)[0]!.latest <= key) low = middle;
      else high = middle - 1;
    }
    return { around: linesAt(low - 1, low, low + 1), events: low };
  }

  #linesAt(table: number, sequences: readonly number[]): StoredLine[] {
    const find = this.#file.sql(
      `SELECT * FROM event_${table} WHERE sequence=?`,
    );
    return sequences.map((sequence) => find.get(sequence))
      .filter((row) => row !== undefined)
      .map((row) => this.#lineOf(row));
  }

  #lineOf(row: Record<string, SQLOutputValue>): StoredLine {
    const { sequence, event_id, relationship, subject, latest, line } = row;
    if (
      typeof sequence !== "number" || typeof event_id !== "string" ||
      typeof relationship !== "string" || typeof subject !== "string" ||
      typeof latest !== "string" || !(line instanceof Uint8Array)
    ) throw this.damaged("a stored line");
    return {
      sequence,
      event_id,
      relationship,
      subject,
      latest,
      line: line as Uint8Array<ArrayBuffer>,
    };
  }
}

/** Returns `store_unavailable` for damaged lines. */
function damagedLines(unavailable: Unavailable, what: string): Error {
  return unavailable(
    `${what} is damaged`,
    undefined,
    "Verify the issuer's whole feed again with --full, or forget the issuer with sig pin remove: it is then seen for the first time.",
  );
}

/** What {@linkcode NewLines.commit} writes. */
interface LinesCommit<T extends { readonly text: string }> {
  readonly issuer: string;
  /** Whether the lines replace the known lines; otherwise they are appended. */
  readonly isFromStart: boolean;
  readonly attachment: Uint8Array;
  /**
   * Returns what to write, given the current text of the pin's record. Called
   * within the transaction; an error rolls it back.
   */
  readonly decide: (current: string | undefined, table: number) => Promise<T>;
}

/**
 * The new lines of one read. They are collected in a temporary table of a
 * separate connection, which blocks no other process and disappears after a
 * crash. One short transaction copies them.
 */
export class NewLines {
  readonly #main: SqliteFile;
  readonly #known: number | undefined;
  #file: SqliteFile | undefined;
  #latest: Instant | undefined;
  #first = Infinity;
  #last = 0;

  constructor(main: SqliteFile, known: number | undefined) {
    this.#main = main;
    this.#known = known;
  }

  get isEmpty(): boolean {
    return this.#last === 0;
  }

  /** Starts again, after lines with this latest `issued_at`. */
  restart(latest: Instant | undefined): void {
    this.#latest = latest;
    this.#first = Infinity;
    this.#last = 0;
    this.#file?.exec("DELETE FROM temp.new_line");
  }

  /** Adds a verified line; its bytes are copied. */
  add(line: Uint8Array, event: SigEvent | UnknownEvent): void {
    const issuedAt = validInstant(event.issued_at);
    const latest = this.#latest;
    if (latest === undefined || compareInstants(issuedAt, latest) > 0) {
      this.#latest = issuedAt;
    }
    this.#first = Math.min(this.#first, event.sequence);
    this.#last = event.sequence;
    const file = this.#opened();
    file.attempt(() =>
      file.sql("INSERT INTO temp.new_line VALUES (?, ?, ?, ?, ?, ?, ?)").run(
        event.sequence,
        event.event_id,
        event.relationship_id,
        event.subject,
        kindOf(event),
        instantKey(this.#latest!),
        line,
      )
    );
  }

  /**
   * Looks up the lines added so far, for the rules of the same read. From
   * `maxHeld` events on, the rules need not hold them in memory; only then are
   * they indexed.
   */
  past(maxHeld = MAX_HELD_EVENTS): PastEvents {
    let isIndexed = false;
    const find = (where: string, value: string) => {
      const file = this.#opened();
      return file.attempt(() =>
        file.sql(
          `SELECT subject, kind FROM temp.new_line WHERE ${where} ORDER BY sequence DESC LIMIT 1`,
        ).get(value)
      );
    };
    return {
      takesOver: (held) => {
        if (held < maxHeld) return false;
        if (!isIndexed) this.#opened().exec(NEW_LINE_INDEXES);
        return isIndexed = true;
      },
      hasEvent: (id) => isIndexed && find("event_id=?", id) !== undefined,
      relationship(id) {
        if (!isIndexed) return undefined;
        const of = (kinds: string) =>
          find(`relationship=? AND kind IN (${kinds})`, id);
        const upsert = of(`${KIND.upsert}`);
        if (upsert === undefined) return undefined;
        const latest = of(`${KIND.upsert}, ${KIND.revoke}`);
        return {
          subject: String(upsert.subject),
          revoked: Number(latest!.kind) === KIND.revoke,
        };
      },
    };
  }

  /**
   * Returns the sequence of the first line that differs from the known table;
   * undefined if none does.
   */
  firstDifference(): number | undefined {
    if (this.#known === undefined) return undefined;
    try {
      const row = this.#opened().sql(
        `SELECT sequence FROM temp.new_line JOIN event_${this.#known} AS known USING (sequence) WHERE known.line <> new_line.line ORDER BY sequence LIMIT 1`,
      ).get();
      return row === undefined ? undefined : Number(row.sequence);
    } catch {
      // The contradiction is reported without its sequence.
      return undefined;
    }
  }

  /**
   * Copies the lines, the attachment and the pin in one transaction.
   *
   * @returns The result of `decide`.
   * @throws {SigError} `store_unavailable`, and what `decide` throws.
   */
  async commit<T extends { readonly text: string }>(
    { issuer, isFromStart, attachment, decide }: LinesCommit<T>,
  ): Promise<T> {
    const file = this.#opened();
    const table = isFromStart ? undefined : this.#known;
    file.exec("COMMIT");
    return await file.transaction("write", async () => {
      const current = file.sql(
        "SELECT text FROM record WHERE kind='pin' AND id=?",
      ).get(issuer)?.text;
      const number = table ?? Number(
        file.sql("INSERT INTO feed (issuer) VALUES (?)").run(issuer)
          .lastInsertRowid,
      );
      const decided = await decide(
        current === undefined ? undefined : String(current),
        number,
      );
      if (table === undefined) {
        dropFeeds(file, issuer, number);
        file.exec(feedTables(number));
      }
      await this.#copy(file, number);
      file.sql("INSERT OR REPLACE INTO attachment VALUES (?, ?)")
        .run(issuer, attachment);
      file.sql("INSERT OR REPLACE INTO record VALUES ('pin', ?, ?, NULL, ?)")
        .run(issuer, crypto.randomUUID(), decided.text);
      return decided;
    });
  }

  end(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  async #copy(file: SqliteFile, number: number): Promise<void> {
    for (let from = this.#first; from <= this.#last; from += SLICE_LINES) {
      const range = [from, from + SLICE_LINES - 1];
      file.sql(
        `INSERT INTO event_${number} SELECT * FROM temp.new_line WHERE sequence BETWEEN ? AND ?`,
      ).run(...range);
      file.sql(
        `INSERT INTO subject_${number} SELECT subject, count(*) FROM temp.new_line WHERE sequence BETWEEN ? AND ? GROUP BY subject ON CONFLICT DO UPDATE SET lines = lines + excluded.lines`,
      ).run(...range);
      if (from + SLICE_LINES <= this.#last) await yieldToEventLoop();
    }
  }

  #opened(): SqliteFile {
    if (this.#file !== undefined) return this.#file;
    const file = this.#main.connect();
    try {
      // One transaction for all inserts; it locks only the temporary table.
      file.exec(`CREATE TEMP TABLE new_line ${COLUMNS}; BEGIN`);
    } catch (error) {
      file.close();
      throw file.unavailable(
        "a temporary table can't be made",
        error,
        "SQLite needs a temporary folder that can be written (TMPDIR).",
      );
    }
    return this.#file = file;
  }
}

function kindOf(event: SigEvent | UnknownEvent): number {
  if (isUpsert(event)) return KIND.upsert;
  return isRevoke(event) ? KIND.revoke : KIND.other;
}

/** Returns how many feeds were dropped. */
function dropFeeds(
  file: SqliteFile,
  issuer: string,
  except: number | null,
): number {
  const old = file.sql(
    "SELECT number FROM feed WHERE issuer=? AND number IS NOT ?",
  )
    .all(issuer, except);
  for (const { number } of old) {
    file.exec(
      `DROP TABLE IF EXISTS event_${number}; DROP TABLE IF EXISTS subject_${number}`,
    );
    file.sql("DELETE FROM feed WHERE number=?").run(number!);
  }
  return old.length;
}

/** Returns an instant as text that sorts by time, for the years 1 to 9999. */
export function instantKey({ seconds, nanoseconds }: Instant): string {
  const positive = String(seconds + 100_000_000_000).padStart(12, "0");
  return `${positive}.${String(nanoseconds).padStart(9, "0")}`;
}
