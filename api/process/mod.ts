/**
 * The streams, files and signals of a process, for servers and command lines.
 * Imports no third-party package, so that a program can report a missing one.
 *
 * @example A variable that may be unset or not readable
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
  signalled,
  writeAll,
} from "./io.ts";
