/**
 * The streams, files and signals of a process, for servers and command lines.
 * Loads no package of others, so that a program can say what is missing.
 *
 * @example A variable that may be missing, or not be readable
 * ```ts
 * import { readVariable } from "@sig/api/process";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(readVariable("SIG_NO_SUCH_VARIABLE"), undefined);
 * ```
 *
 * @module
 */
export {
  type CreateFileOptions,
  createPrivateFile,
  decodeSecretLine,
  readFile,
  replaceFile,
  tooLarge,
  writeFile,
  type WriteFileOptions,
} from "./files.ts";
export { createProcessIo, type ProcessIo } from "./io.ts";
export {
  type DataFolder,
  dataFolder,
  onHangup,
  pause,
  readVariable,
  readVariables,
  signalled,
  writeAll,
} from "./io.ts";
