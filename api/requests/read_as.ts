/** Reading a body. @module */

import { Faults } from "./faults.ts";
import type { Schema } from "./schema.ts";

/**
 * Reads a whole value, or throws what is wrong with it.
 *
 * @param pointer Where the value stands (RFC 6901; default: the whole).
 * @throws {SigError} as {@linkcode Faults.throwIfAny}.
 */
export function readAs<T>(schema: Schema<T>, value: unknown, pointer = ""): T {
  const faults = new Faults();
  const read = schema.read(value, pointer, faults);
  faults.throwIfAny();
  return read as T;
}
