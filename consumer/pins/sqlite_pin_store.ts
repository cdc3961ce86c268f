/**
 * A memory in one file, which the processes of a machine share. Long because its
 * statements stand here with the tables that they are about.
 *
 * @module
 */

import type { DatabaseSync, SQLOutputValue, StatementSync } from "node:sqlite";
import { isSigError } from "@sig/core";
import {
  damaged,
  type PinEntry,
  type PinRow,
  type PinStore,
  pinStoreUnavailable,
  StateMoved,
  stateName,
  type StateRef,
} from "./pin_store.ts";
import { openSqliteFile, sqliteUnavailable } from "./sqlite_file.ts";
import { SqliteStagingLock } from "./sqlite_staging_lock.ts";

/** "SIGp": tells our files from those of other programs. */
const APPLICATION_ID = 0x53494770;

/** Changes when the tables do. */
const SCHEMA_VERSION = 1;

/** How long a file that another process writes is waited for. */
const BUSY_TIMEOUT_MS = 5_000;

/** Rows of a page of {@linkcode PinStore.all}. */
const PAGE_ROWS = 1_000;

/** Rows that are forgotten in one transaction. */
const UNSTAGED_ROWS = 10_000;

/** After every key that begins with a text. */
const LAST = "\u{10ffff}";

// With a write-ahead log and NORMAL a commit costs no flush, and whatever
// crashes, the file is whole; after a power cut it is at worst behind.
// Rows of a first look come in batches, each in the order of its keys: 32 MiB of
// pages made it no faster than 4, nor 4 than 2, and they stay resident.
const SETTINGS = `
PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -2048;
PRAGMA foreign_keys = ON;
`;

const SCHEMA = `
CREATE TABLE pins (
  issuer TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  state TEXT NOT NULL,
  body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE states (
  id INTEGER PRIMARY KEY,
  issuer TEXT NOT NULL,
  state TEXT NOT NULL,
  UNIQUE (issuer, state)
);
CREATE TABLE rows (
  state INTEGER NOT NULL REFERENCES states (id) ON DELETE CASCADE,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (state, key)
) WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * Opens the memory in a file, which is made if it is missing (0600), in a folder
 * that must be there.
 *
 * @throws {SigError} `store_unavailable` for a file that can't be opened, is
 * damaged, or was made by another program or a newer version of this one.
 */
export function openSqlitePinStore(path: string): Promise<PinStore> {
  return Promise.resolve().then(() => new SqlitePinStore(path));
}

type Row = Readonly<Record<string, SQLOutputValue>>;

class SqlitePinStore implements PinStore {
  readonly place: string;
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  /** States of which this process has staged rows: they must be there. */
  readonly #staged = new Set<string>();
  /** Held while there are any. */
  readonly #stagingLock = new SqliteStagingLock({
    // Links may lead here from other names.
    file: () => this.#text(this.#sql("PRAGMA database_list").get()!, "file"),
    findLeftOver: () => this.#findLeftOver(),
    forget: (ref) => this.#unstageAll(ref),
  });

  constructor(path: string) {
    this.place = path;
    this.#database = this.#try(() => openSqliteFile(path));
    try {
      this.#try(() => this.#prepareFile());
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get(issuer: string): Promise<PinEntry | undefined> {
    return this.#answer(() => this.#get(issuer));
  }

  list(): Promise<readonly PinEntry[]> {
    return this.#answer(() =>
      this.#sql("SELECT * FROM pins ORDER BY issuer").all()
        .map((row) => this.#entryOf(row))
    );
  }

  rows(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    return this.#answer(() =>
      // One transaction: all of it is as of one moment.
      this.#within("BEGIN", () => {
        const id = this.#current(ref);
        return this.#find(id, keys);
      })
    );
  }

  async *all(ref: StateRef, prefix: string): AsyncGenerator<PinRow> {
    let last = prefix;
    for (;;) {
      const page = await this.#answer(() =>
        this.#within("BEGIN", () =>
          this.#sql(
            `SELECT key, value FROM rows WHERE state=? AND key>? AND key<? ORDER BY key LIMIT ${PAGE_ROWS}`,
          ).all(this.#current(ref), last, prefix + LAST))
      );
      for (const row of page) {
        last = this.#text(row, "key");
        yield [last, this.#text(row, "value")];
      }
      if (page.length < PAGE_ROWS) return;
    }
  }

  async stage(ref: StateRef, rows: readonly PinRow[]): Promise<void> {
    this.#stagingLock.take();
    await this.#stagingLock.forgetLeftOver();
    await this.#answer(() => {
      // Whose rows were all there were may have let go of it.
      this.#stagingLock.take();
      this.#within("BEGIN IMMEDIATE", () => {
        if (this.#isLost(ref)) throw new StateMoved();
        this.#write(ref, rows);
        this.#staged.add(stateName(ref));
      });
    });
  }

  staged(
    ref: StateRef,
    keys: readonly string[],
  ): Promise<readonly (string | undefined)[]> {
    return this.#answer(() =>
      this.#within("BEGIN", () => {
        const id = this.#stateOf(ref);
        return id === undefined
          ? keys.map(() => undefined)
          : this.#find(id, keys);
      })
    );
  }

  async unstage(ref: StateRef): Promise<void> {
    try {
      await this.#unstageAll(ref);
    } finally {
      // What a full disk does not let go is left over.
      this.#staged.delete(stateName(ref));
      this.#unlockStaging();
    }
  }

  put(
    entry: PinEntry,
    rows: readonly PinRow[] = [],
    over?: string,
  ): Promise<boolean> {
    const { issuer, revision, state, body } = entry;
    return this.#answer(() => {
      const isWritten = this.#within("BEGIN IMMEDIATE", () => {
        const before = this.#get(issuer);
        if (revision !== (before?.revision ?? 0) + 1) return false;
        if ((over ?? before?.state) !== before?.state) return false;
        if (this.#isLost(entry)) return false;
        this.#staged.delete(stateName(entry));
        const id = this.#write(entry, rows);
        if (before?.state !== state) {
          this.#sql("DELETE FROM states WHERE issuer=? AND id<>?")
            .run(issuer, id);
        }
        this.#sql("REPLACE INTO pins VALUES (?, ?, ?, ?)")
          .run(issuer, revision, state, body);
        return true;
      });
      this.#unlockStaging();
      return isWritten;
    });
  }

  remove(issuer: string): Promise<boolean> {
    return this.#answer(() =>
      this.#within("BEGIN IMMEDIATE", () => {
        const wasThere = this.#get(issuer) !== undefined;
        this.#sql("DELETE FROM states WHERE issuer=?").run(issuer);
        this.#sql("DELETE FROM pins WHERE issuer=?").run(issuer);
        return wasThere;
      })
    );
  }

  close(): Promise<void> {
    return this.#answer(() => {
      this.#statements.clear();
      this.#stagingLock.release();
      this.#database.close();
    });
  }

  #prepareFile(): void {
    const database = this.#database;
    database.exec(SETTINGS);
    if (this.#isOurs()) return;
    // Two that find it empty at once take turns.
    this.#within("BEGIN IMMEDIATE", () => {
      if (!this.#isOurs()) database.exec(SCHEMA);
    });
    database.exec("PRAGMA journal_mode = WAL");
  }

  /** False for an empty file. */
  #isOurs(): boolean {
    const pragma = (name: string) =>
      this.#database.prepare(`PRAGMA ${name}`).get()?.[name];
    const version = pragma("user_version");
    const id = pragma("application_id");
    if (id === APPLICATION_ID) {
      if (version === SCHEMA_VERSION) return true;
      throw pinStoreUnavailable(
        this.place,
        `it was made by another version of this program (${version})`,
        { hint: "Use the newer version, or name another file with --pins." },
      );
    }
    const tables = this.#database.prepare(
      "SELECT count(*) AS n FROM sqlite_schema",
    ).get()?.n;
    if (id === 0 && version === 0 && tables === 0) return false;
    throw pinStoreUnavailable(
      this.place,
      "the file belongs to another program",
      {
        hint: "Name another file with --pins.",
      },
    );
  }

  #get(issuer: string): PinEntry | undefined {
    const row = this.#sql("SELECT * FROM pins WHERE issuer=?").get(issuer);
    return row && this.#entryOf(row);
  }

  #current({ issuer, state }: StateRef): number {
    const row = this.#sql(
      "SELECT id FROM states JOIN pins USING (issuer, state) WHERE issuer=? AND state=?",
    ).get(issuer, state);
    if (row === undefined) throw new StateMoved();
    return this.#integer(row, "id");
  }

  #find(id: number, keys: readonly string[]): readonly (string | undefined)[] {
    const find = this.#sql("SELECT value FROM rows WHERE state=? AND key=?");
    return keys.map((key) => {
      const row = find.get(id, key);
      return row && this.#text(row, "value");
    });
  }

  /** In pieces: others, of this process too, wait for their turn, and not long. */
  async #unstageAll(ref: StateRef): Promise<void> {
    while (!await this.#answer(() => this.#unstageSome(ref))) {
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  /** Whether nothing of it is left to be forgotten. */
  #unstageSome(ref: StateRef): boolean {
    return this.#within("BEGIN IMMEDIATE", () => {
      const id = this.#stateOf(ref);
      if (id === undefined) return true;
      if (this.#get(ref.issuer)?.state === ref.state) return true;
      const some = this.#sql(
        `SELECT key FROM rows WHERE state=? LIMIT ${UNSTAGED_ROWS}`,
      ).all(id);
      const forget = this.#sql("DELETE FROM rows WHERE state=? AND key=?");
      for (const row of some) forget.run(id, this.#text(row, "key"));
      if (some.length === UNSTAGED_ROWS) return false;
      this.#sql("DELETE FROM states WHERE id=?").run(id);
      return true;
    });
  }

  #unlockStaging(): void {
    if (this.#staged.size === 0) this.#stagingLock.release();
  }

  /** Staged rows that no entry names, and that are not of this process. */
  #findLeftOver(): readonly StateRef[] {
    return this.#sql(
      "SELECT issuer, state FROM states EXCEPT SELECT issuer, state FROM pins",
    ).all().map((row) => ({
      issuer: this.#text(row, "issuer"),
      state: this.#text(row, "state"),
    })).filter((ref) => !this.#staged.has(stateName(ref)));
  }

  #stateOf({ issuer, state }: StateRef): number | undefined {
    const row = this.#sql("SELECT id FROM states WHERE issuer=? AND state=?")
      .get(issuer, state);
    return row && this.#integer(row, "id");
  }

  /** Whether rows were staged that are forgotten by now. */
  #isLost(ref: StateRef): boolean {
    return this.#staged.has(stateName(ref)) && this.#stateOf(ref) === undefined;
  }

  #write(ref: StateRef, rows: readonly PinRow[]): number {
    this.#sql("INSERT OR IGNORE INTO states (issuer, state) VALUES (?, ?)")
      .run(ref.issuer, ref.state);
    const id = this.#stateOf(ref)!;
    const replace = this.#sql("REPLACE INTO rows VALUES (?, ?, ?)");
    for (const [key, value] of rows) replace.run(id, key, value);
    return id;
  }

  #within<T>(begin: string, work: () => T): T {
    this.#sql(begin).run();
    try {
      const result = work();
      this.#sql("COMMIT").run();
      return result;
    } catch (error) {
      try {
        this.#sql("ROLLBACK").run();
      } catch {
        // Some failures have rolled it back already.
      }
      throw error;
    }
  }

  #sql(text: string): StatementSync {
    const known = this.#statements.get(text) ?? this.#database.prepare(text);
    this.#statements.set(text, known);
    return known;
  }

  #answer<T>(work: () => T): Promise<T> {
    return Promise.resolve().then(() => this.#try(work));
  }

  #try<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (isSigError(error) || error instanceof StateMoved) throw error;
      throw sqliteUnavailable(this.place, error);
    }
  }

  #entryOf(row: Row): PinEntry {
    return {
      issuer: this.#text(row, "issuer"),
      revision: this.#integer(row, "revision"),
      state: this.#text(row, "state"),
      body: this.#text(row, "body"),
    };
  }

  #text(row: Row, name: string): string {
    const value = row[name];
    if (typeof value === "string") return value;
    throw damaged(this.place, `a row (${name})`);
  }

  #integer(row: Row, name: string): number {
    const value = row[name];
    if (Number.isSafeInteger(value)) return value as number;
    throw damaged(this.place, `a row (${name})`);
  }
}
