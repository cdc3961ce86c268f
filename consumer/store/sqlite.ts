/** `node:sqlite`, where the runtime has it. @module */

import type * as sqlite from "node:sqlite";
import { loadBuiltin } from "@sig/jose";

/** Undefined where the platform has no SQLite. */
export function loadSqlite(): typeof sqlite | undefined {
  return loadBuiltin("node:sqlite") as typeof sqlite | undefined;
}
