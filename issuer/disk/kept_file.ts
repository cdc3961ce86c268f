/** An open file that stays open between a store's turns. @module */

import type { DiskFile } from "./disk.ts";

/**
 * Spares opening and closing one file for each append. Whoever takes it must
 * see whether its path still names it.
 */
export class KeptFile {
  #file: DiskFile | undefined;
  #closed = false;

  /**
   * The file, which is then the caller's alone: a turn that comes in between
   * opens its own, so that locks also exclude within one store.
   */
  take(): DiskFile | undefined {
    const file = this.#file;
    this.#file = undefined;
    return file;
  }

  /** Gives up the file's lock, and keeps it if there is none yet. */
  keep(file: DiskFile): void {
    if (!this.#closed && this.#file === undefined && file.unlock()) {
      this.#file = file;
    } else {
      file.close();
    }
  }

  /** Closes it; nothing is kept from now on. */
  close(): void {
    this.#closed = true;
    this.take()?.close();
  }
}
