/** Where private keys lie (INTERFACES §2). @module */

import type { Io } from "../terminal/io.ts";
import { dataFolder, usageError } from "@sig/api/flags";

/**
 * `SIG_KEYS_DIR`, else a folder of the user's data directory.
 *
 * @throws {SigError} `invalid_request` where there is none.
 */
export function keyStoreDir(io: Io): string {
  const dir = io.env("SIG_KEYS_DIR");
  if (dir !== undefined) return dir;
  const data = dataFolder(io.env);
  if (data.folder !== undefined) return `${data.folder}/keys`;
  throw usageError(`there is no place for private keys: ${data.why}`, {
    hint:
      "Set SIG_KEYS_DIR to a folder that only you can read, and let the program read that variable (--allow-env).",
  });
}
