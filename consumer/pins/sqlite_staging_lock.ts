/** Tells the rows of a first look that goes on from those of one that died. @module */

import type { DatabaseSync } from "node:sqlite";
import type { StateRef } from "./pin_store.ts";
import { openSqliteFile } from "./sqlite_file.ts";

/** The memory whose staged rows a {@linkcode SqliteStagingLock} is about. */
export interface StagedRows {
  /** Its file, by the one name that all processes find it by. */
  file(): string;
  /** States that no entry names, without those of this process. */
  findLeftOver(): readonly StateRef[];
  /** Deletes the rows of one. */
  forget(ref: StateRef): Promise<void>;
}

/**
 * Tells other processes, for as long as this one lives, that it stages rows: an
 * empty database beside the memory's, which those that stage read in a
 * transaction that never ends. Where nobody else does, staged rows were left over
 * by one that was killed or met a full disk, and go.
 */
export class SqliteStagingLock {
  readonly #rows: StagedRows;
  #held: DatabaseSync | undefined;
  /** Left over by others, and nobody's. */
  #leftOver: readonly StateRef[] = [];

  constructor(rows: StagedRows) {
    this.#rows = rows;
  }

  /** Takes it unless it is held. Where it can't be had the next call tries again. */
  take(): void {
    if (this.#held !== undefined) return;
    let lock: DatabaseSync | undefined;
    try {
      lock = openSqliteFile(`${this.#rows.file()}-staging`);
      lock.exec("PRAGMA journal_mode = MEMORY");
      if (isDone(() => lock?.exec("BEGIN EXCLUSIVE"))) {
        // Nobody stages now: what there is stays nobody's, whoever stages next.
        this.#leftOver = this.#rows.findLeftOver();
        lock.exec("ROLLBACK");
      }
      lock.exec("BEGIN; SELECT 1 FROM sqlite_schema");
      this.#held = lock;
    } catch {
      // Until then ours may be taken for such, and the look begins anew.
      lock?.close();
    }
  }

  /** Deletes what was found to be left over when it was taken. */
  async forgetLeftOver(): Promise<void> {
    const leftOver = this.#leftOver;
    this.#leftOver = [];
    try {
      for (const ref of leftOver) await this.#rows.forget(ref);
    } catch {
      // Without room for it, staging will say so.
    }
  }

  /** Lets go of it, if it is held. */
  release(): void {
    this.#held?.close();
    this.#held = undefined;
  }
}

function isDone(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
