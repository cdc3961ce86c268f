/** A SQLite database in a file that only this user can write. @module */

import type * as fs from "node:fs";
import type * as sqlite from "node:sqlite";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isSigError } from "@sig/core";
import { loadBuiltin } from "@sig/jose/internal";
import { FORBIDDEN, type Unavailable } from "./record_store.ts";
import { retryWhileBusy } from "./waiting.ts";

/**
 * Time limit for retries in milliseconds, while another process writes the
 * file.
 */
const BUSY_TIMEOUT_MS = 60_000;

/**
 * Time limit of opening a file, which blocks this process. Another process that
 * opens or closes the file locks it briefly, since it begins or removes the log.
 */
const OPEN_TIMEOUT_MS = 10_000;

/** Mode bits that allow group or others to write. */
export const WRITABLE_BY_OTHERS = 0o022;

// With a write-ahead log and NORMAL, a commit needs no flush. After a crash of
// the process the file is intact; after a power failure it may lack the latest
// commits.
const SETTINGS = `
PRAGMA busy_timeout = ${OPEN_TIMEOUT_MS};
PRAGMA synchronous = NORMAL;
PRAGMA cache_size = -2048;
`;

interface SqliteSchema {
  /** Identifies files of this program. */
  readonly applicationId: number;
  /** Changes with the tables. */
  readonly version: number;
  /** SQL that creates the tables. */
  readonly tables: string;
  /** Changes a file of one earlier version, in one transaction. */
  readonly upgrade?: {
    readonly from: number;
    readonly run: (file: SqliteFile) => void;
  };
}

/** Returns `node:sqlite`, or undefined if the platform has none. */
export function loadSqlite(): typeof sqlite | undefined {
  return loadBuiltin("node:sqlite") as typeof sqlite | undefined;
}

/** One connection to a database file. */
export class SqliteFile {
  readonly #database: DatabaseSync;
  readonly unavailable: Unavailable;
  readonly #statements = new Map<string, StatementSync>();
  #isOpen = true;

  private constructor(database: DatabaseSync, unavailable: Unavailable) {
    this.#database = database;
    this.unavailable = unavailable;
  }

  /**
   * Opens a file. A missing file is created (0600); its folder must exist.
   *
   * @throws {SigError} `store_unavailable` for a file that can't be opened, is
   * empty or damaged, belongs to another user or program or to another version
   * of this one, or can be written by another user.
   */
  static open(
    path: string,
    schema: SqliteSchema,
    unavailable: Unavailable,
  ): SqliteFile {
    const modules = loadModules();
    if (modules === undefined) throw unavailable("this platform has no SQLite");
    try {
      if (!modules.fs.existsSync(path)) makeFile(modules, path, schema);
      // Symbolic links may lead here; the log is next to the real file.
      const real = modules.fs.realpathSync(path);
      const opened = checkFile(modules.fs, path, real, unavailable);
      const file = SqliteFile.#connect(modules.sqlite, real, unavailable);
      try {
        const now = modules.fs.statSync(real);
        if (now.ino !== opened.ino || now.dev !== opened.dev) {
          throw unavailable("the file was replaced while it was opened");
        }
        file.#requireSchema(schema);
        // Waiting for a lock is done here from now on, because SQLite would
        // block the event loop.
        file.exec("PRAGMA busy_timeout = 0");
        return file;
      } catch (error) {
        file.close();
        throw error;
      }
    } catch (error) {
      throw sqliteFailure(error, unavailable);
    }
  }

  static #connect(
    { DatabaseSync }: typeof sqlite,
    path: string,
    unavailable: Unavailable,
  ): SqliteFile {
    const database = new DatabaseSync(path);
    database.exec(SETTINGS);
    return new SqliteFile(database, unavailable);
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  /** Returns a statement, which is prepared once. */
  sql(text: string): StatementSync {
    const known = this.#statements.get(text) ?? this.#database.prepare(text);
    this.#statements.set(text, known);
    return known;
  }

  #failure(error: unknown): unknown {
    return this.#isOpen
      ? sqliteFailure(error, this.unavailable)
      : this.unavailable("it is closed", error);
  }

  /**
   * Runs the work in one transaction, which sees a snapshot of the file.
   *
   * @throws {SigError} `store_unavailable`, and the errors of the work.
   */
  async transaction<T>(
    mode: "read" | "write",
    work: () => T,
  ): Promise<T> {
    const begin = mode === "read" ? "BEGIN" : "BEGIN IMMEDIATE";
    try {
      return await retryWhileBusy(() => {
        this.#database.exec(begin);
        let hasWorked = false;
        try {
          const result = work();
          this.#database.exec("COMMIT");
          hasWorked = true;
          return result;
        } finally {
          if (!hasWorked && this.#database.isTransaction) {
            this.#database.exec("ROLLBACK");
          }
        }
      }, { isBusy: isSqliteBusy, timeoutMs: BUSY_TIMEOUT_MS });
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Closes the connection. Can be called more than once. */
  close(): void {
    if (this.#isOpen) this.#database.close();
    this.#isOpen = false;
  }

  /** Another process may have done it first, or may use the file now. */
  #upgrade(
    { version, upgrade }: SqliteSchema,
    run: (file: SqliteFile) => void,
  ): void {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const now = this.#database.prepare("PRAGMA user_version").get();
      if (now?.user_version === upgrade?.from) {
        run(this);
        this.#database.exec(`PRAGMA user_version = ${version}`);
      }
      this.#database.exec("COMMIT");
    } finally {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    }
  }

  #requireSchema(schema: SqliteSchema): void {
    const pragma = (name: string) =>
      this.#database.prepare(`PRAGMA ${name}`).get()?.[name];
    if (pragma("application_id") !== schema.applicationId) {
      throw this.unavailable(
        "the file belongs to another program",
        undefined,
        "Name another file with --pins.",
      );
    }
    const version = Number(pragma("user_version"));
    if (version === schema.version) return;
    if (version === schema.upgrade?.from) {
      return this.#upgrade(schema, schema.upgrade.run);
    }
    const isOld = version < schema.version;
    throw this.unavailable(
      `it was made by ${
        isOld ? "an earlier" : "a newer"
      } version of this program (${version})`,
      undefined,
      isOld
        ? "Move it away: each issuer is then seen for the first time."
        : "Use the newer version, or name another file with --pins.",
    );
  }
}

interface Modules {
  readonly sqlite: typeof sqlite;
  readonly fs: typeof fs;
}

function loadModules(): Modules | undefined {
  const sqlite = loadSqlite();
  const files = loadBuiltin("node:fs") as typeof fs | undefined;
  return sqlite && files && { sqlite, fs: files };
}

/**
 * Creates the file under another name and links it when it is complete. An
 * empty file is therefore never one that is being created.
 */
function makeFile({ sqlite, fs }: Modules, path: string, schema: SqliteSchema) {
  const part = `${path}.${crypto.randomUUID()}.part`;
  fs.closeSync(fs.openSync(part, "wx", 0o600));
  try {
    const database = new sqlite.DatabaseSync(part);
    try {
      database.exec(`PRAGMA journal_mode = WAL; ${schema.tables};
        PRAGMA application_id = ${schema.applicationId};
        PRAGMA user_version = ${schema.version};`);
    } finally {
      database.close();
    }
    fs.linkSync(part, path);
  } catch (error) {
    // Another process created the file first.
    if ((error as { code?: unknown }).code !== "EEXIST") throw error;
  } finally {
    fs.unlinkSync(part);
  }
}

/** Refuses a file that another user could have written or replaced. */
function checkFile(
  files: typeof fs,
  given: string,
  path: string,
  unavailable: Unavailable,
): fs.Stats {
  const file = files.statSync(path);
  if (!file.isFile()) {
    throw unavailable(
      "it is not a file",
      undefined,
      "Name a file, such as pins.db in that folder.",
    );
  }
  if (file.size === 0) {
    throw unavailable(
      "the file is empty",
      undefined,
      "It was emptied, or never filled. Restore it from a backup, or move it away: each issuer is then seen for the first time.",
    );
  }
  const me = ownerOfNewFile(files, path);
  if (me !== undefined) requireClosedFolders(files, given, unavailable);
  for (const suffix of ["", "-wal", "-shm", "-journal"]) {
    const each = suffix === ""
      ? file
      : files.statSync(path + suffix, { throwIfNoEntry: false });
    if (each === undefined || me === undefined) continue;
    if (each.uid !== me) {
      throw unavailable(
        `the file ${path}${suffix} belongs to another user`,
        undefined,
        "Only a file that no other user can write is trusted. Name another file, or change its owner if you know who wrote it.",
      );
    }
    if ((each.mode & WRITABLE_BY_OTHERS) !== 0) {
      throw unavailable(
        `the file ${path}${suffix} can be written by other users`,
        undefined,
        "If you know that nobody else has written it, run chmod go-w on it.",
      );
    }
  }
  return file;
}

/**
 * Refuses a path through a folder in which any user can replace files, folders
 * and links: also one above the file's folder, and one with a link on the way.
 * A folder that this process may not look into is not checked.
 */
export function requireClosedFolders(
  files: typeof fs,
  path: string,
  unavailable: Unavailable,
): void {
  const partsOf = (path: string) => path.split("/").filter((part) => part);
  let parts = partsOf(path);
  let folder = path.startsWith("/") ? "/" : `${files.realpathSync(".")}/`;
  if (folder !== "/") [folder, parts] = ["/", [...partsOf(folder), ...parts]];
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === ".") continue;
    if (part === "..") {
      folder = folder.replace(/[^/]*\/$/, "") || "/";
      continue;
    }
    const [mode, target] = lookAt(files, folder, part);
    // In a folder with the sticky bit, such as /tmp, only owners replace files.
    if (mode !== undefined && (mode & 0o1002) === 0o002) {
      throw unavailable(
        `any user can replace files in the folder ${folder}`,
        undefined,
        "If you know that nobody else has written there, run chmod o-w on it.",
      );
    }
    if (target === undefined) folder = `${folder}${part}/`;
    else {
      if (target.startsWith("/")) folder = "/";
      parts = [...partsOf(target), ...parts];
    }
  }
}

/** Returns a folder's mode, and the target of a link in it, if permitted. */
function lookAt(
  files: typeof fs,
  folder: string,
  name: string,
): readonly [mode: number | undefined, target: string | undefined] {
  const allowed = <T>(look: () => T): T | undefined => {
    try {
      return look();
    } catch (error) {
      if (FORBIDDEN.test(String(error))) return undefined;
      throw error;
    }
  };
  const path = `${folder}${name}`;
  const isLink = () =>
    files.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  return [
    allowed(() => files.statSync(folder).mode),
    allowed(isLink) ? allowed(() => files.readlinkSync(path)) : undefined,
  ];
}

/**
 * Returns the user id of this process, which needs no extra permission;
 * undefined on Windows.
 */
export function ownerOfNewFile(
  files: typeof fs,
  path: string,
): number | undefined {
  const probe = `${path}.${crypto.randomUUID()}.part`;
  files.closeSync(files.openSync(probe, "wx", 0o600));
  try {
    const { uid, mode } = files.statSync(probe);
    // Where modes have no meaning, such as on Windows, owners have none either.
    return (mode & 0o777) === 0o600 ? uid : undefined;
  } finally {
    files.unlinkSync(probe);
  }
}

const BUSY = /database is locked/;

/** Returns whether another process was writing. Nothing was changed then. */
function isSqliteBusy(error: unknown): boolean {
  return error instanceof Error && BUSY.test(error.message);
}

/**
 * Explanations and hints by the error's name and message. The first match
 * applies.
 */
const FAILURES: readonly (readonly [RegExp, why: string, hint?: string])[] = [
  [
    /too large to be represented|not a database|malformed|no such (?:table|column|index)|constraint failed/,
    "the file is damaged",
    "Move it away, or name another file; each issuer is then seen for the first time.",
  ],
  [
    /disk is full|disk I\/O error/,
    "it can't be written, the disk may be full",
    "Make room; what was stored is unchanged.",
  ],
  [BUSY, "other processes keep it locked"],
  [
    /readonly/,
    "it can't be written",
    "Give the file and its folder to this user, or use --no-pin.",
  ],
  [
    FORBIDDEN,
    "permission denied",
    "Allow the file's folder with --allow-read and --allow-write: sig, sig api and sig web have both, sig-api and sig-web have not.",
  ],
];

/**
 * Converts an error of SQLite or the platform to `store_unavailable` with a
 * hint.
 */
function sqliteFailure(cause: unknown, unavailable: Unavailable): unknown {
  if (isSigError(cause)) return cause;
  const { message, code, name } = cause as {
    readonly [member in "message" | "code" | "name"]?: unknown;
  };
  const text = `${name}: ${message}`;
  const isSystem = typeof code === "string" && /^E[A-Z]{2,20}$/.test(code);
  const isKnown = isSystem || code === "ERR_SQLITE_ERROR" ||
    FORBIDDEN.test(text) || /^RangeError: .*too large to be rep/.test(text);
  if (!isKnown || name === "TypeError") return cause;
  const [, why, hint] = FAILURES.find(([pattern]) => pattern.test(text)) ?? [
    undefined,
    `it can't be opened${isSystem ? ` (${code})` : ""}`,
    "Its folder must be there, and this user must be able to write there.",
  ];
  return unavailable(why, cause, hint);
}
