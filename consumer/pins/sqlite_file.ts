/** A file of the memory as a database, and why it can't be used. @module */

import type { DatabaseSync } from "node:sqlite";
import { loadBuiltin } from "@sig/jose";
import { loadSqlite } from "../store/sqlite.ts";
import { pinStoreUnavailable } from "./pin_store.ts";

interface FileModule {
  existsSync(path: string): boolean;
  openSync(path: string, flags: string, mode: number): number;
  closeSync(file: number): void;
}

/**
 * Opens a file, which is made if it is missing (0600).
 *
 * @throws {SigError} `store_unavailable` where there is no SQLite; else what the
 * platform throws, for {@linkcode sqliteUnavailable}.
 */
export function openSqliteFile(path: string): DatabaseSync {
  const sqlite = loadSqlite();
  const files = loadBuiltin("node:fs") as FileModule | undefined;
  if (sqlite === undefined || files === undefined) {
    throw pinStoreUnavailable(path, "this platform has no SQLite");
  }
  // Before SQLite makes it, which asks the umask; its log takes over the bits.
  // Only where it is missing: whoever closes a file gives up all locks that this
  // process has on it (fcntl), also those of another database of the same file.
  if (!files.existsSync(path)) {
    files.closeSync(files.openSync(path, "a", 0o600));
  }
  return new sqlite.DatabaseSync(path);
}

/** `store_unavailable` for what SQLite or the platform threw, and what to do. */
export function sqliteUnavailable(path: string, cause: unknown): Error {
  const { message = "", code } = cause as { message?: string; code?: unknown };
  const is = (pattern: RegExp) => pattern.test(message);
  if (is(/not a database|malformed|no such (table|column)/)) {
    return pinStoreUnavailable(path, "the file is damaged", {
      cause,
      hint:
        "Move it away, or name another file with --pins; the next look at each issuer is then a first one.",
    });
  }
  if (is(/disk is full|disk I\/O error/)) {
    return pinStoreUnavailable(
      path,
      "it can't be written, the disk may be full",
      {
        cause,
        hint: "Make room; what was remembered is as it was.",
      },
    );
  }
  if (is(/locked|busy/)) {
    return pinStoreUnavailable(path, "other processes keep it locked", {
      cause,
    });
  }
  if (is(/readonly/)) {
    return pinStoreUnavailable(path, "it can't be written", {
      cause,
      hint: "Give the file and its folder to this user, or use --no-pin.",
    });
  }
  if ((cause as Error).name === "NotCapable" || is(/Requires \w+ access/)) {
    return pinStoreUnavailable(path, "permission denied", {
      cause,
      reason: "permission",
      hint:
        "Allow the file's folder with --allow-read and --allow-write: sig, sig api and sig web have both, sig-api and sig-web have not.",
    });
  }
  const reason = typeof code === "string" && /^E[A-Z]{2,20}$/.test(code)
    ? ` (${code})`
    : "";
  return pinStoreUnavailable(path, `it can't be opened${reason}`, {
    cause,
    hint:
      "Its folder must be there, and this user must be able to write there.",
  });
}
