/** Where private keys lie (INTERFACES §2). @module */

import type { Io } from "../terminal/io.ts";
import { usageError } from "@sig/api/flags";

/** `SIG_KEYS_DIR`, else a folder of the user's data directory. */
export function keyStoreDir(io: Io): string {
  const dir = io.env("SIG_KEYS_DIR");
  if (dir !== undefined) return dir;
  const data = io.env("XDG_DATA_HOME");
  // A relative one is to be ignored (XDG base directory specification).
  if (data?.startsWith("/")) return `${data}/sig/keys`;
  const home = io.env("HOME");
  if (home !== undefined) return `${home}/.local/share/sig/keys`;
  throw usageError("there is no place for private keys", {
    hint:
      "Set SIG_KEYS_DIR to a folder that only you can read, and let the program read that variable (--allow-env).",
  });
}
