/** Owner and permissions of the folder of lock and index. @module */

import { SigError } from "@sig/core";
import { type Entry, look, openFile, removeFile, setMode } from "./disk.ts";

/** Permission bits that let other users change a folder's content. */
const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;
const INDEX_FILES = ["/index.db", "/index.db-wal", "/index.db-shm"];

/** Returns whether another user could have written the index in our folder. */
export function writableByOthers(folder: string, us: number | null): boolean {
  if (isOpen(look(folder))) return true;
  return INDEX_FILES.some((name) => {
    const file = look(folder + name);
    return file !== undefined &&
      (file.kind !== "file" || file.owner !== us || isOpen(file));
  });
}

function isOpen(entry: Entry | undefined): boolean {
  return ((entry?.mode ?? 0) & OTHERS_WRITE) !== 0;
}

/**
 * Requires that a folder belongs to the user of this process, because its owner
 * can change its content.
 *
 * @throws {SigError} `store_unavailable`
 */
export function requireOwner(
  path: string,
  entry: Entry | undefined,
  us: number | null,
): void {
  if (us === null || entry?.owner === us) return;
  throw new SigError("store_unavailable", {
    action: `use ${JSON.stringify(path)}`,
    reason: "it belongs to another user, who could change what is signed",
    context: {
      path,
      hint: "Run as its owner, or remove it: it is made again from the feed.",
    },
  });
}

/** Removes the permissions of other users on our folder and the index. */
export function restrictToOwner(folder: string): void {
  for (const name of ["", ...INDEX_FILES]) {
    const path = folder + name;
    const entry = look(path);
    if (entry === undefined || entry.kind === "symlink") continue;
    const mode = name === "" ? 0o700 : 0o600;
    if (((entry.mode ?? 0) & OTHERS) !== 0) setMode(path, mode);
  }
}

/**
 * Returns the user id of this process, read from a new file: asking the system
 * would require another permission.
 */
export function findOwner(folder: string): number | null {
  const path = `${folder}/.owner.${crypto.randomUUID()}`;
  const file = openFile(path, { write: true, createNew: true, mode: 0o600 });
  try {
    return file.look().owner;
  } finally {
    file.close();
    removeFile(path);
  }
}
