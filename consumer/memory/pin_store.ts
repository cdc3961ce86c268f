/** The store that remembers issuers for longer than a process. @module */

import type { RecordKind, RecordStore } from "../store/record_store.ts";
import type { SqliteLines } from "./sqlite_lines.ts";

/** A record store, which may keep verified lines too. */
export interface PinStore extends RecordStore {
  /**
   * Only a file (SQLite) has them.
   *
   * @internal
   */
  readonly lines?: SqliteLines;
}

/** One record for each issuer, by its DID. */
export const PINS: RecordKind = { name: "pin" };

/** One record for each watcher. */
export const CURSORS: RecordKind = { name: "cursor" };
