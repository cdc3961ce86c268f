/** `node:sqlite`, loaded when it is needed. @module */

import type * as sqlite from "node:sqlite";
import { loadBuiltin } from "@sig/jose";

/** Opens a database, or returns undefined where the platform has no SQLite. */
export function openDatabase(path: string): sqlite.DatabaseSync | undefined {
  const module = loadBuiltin("node:sqlite") as typeof sqlite | undefined;
  return module === undefined ? undefined : new module.DatabaseSync(path);
}
