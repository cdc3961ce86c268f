/**
 * The streams, files and signals of a process, and servers as programs: from
 * words to an exit code. Never loads Hono.
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
  isOpenToOthers,
  readFile,
  replaceFile,
  tooLarge,
  writeFile,
  type WriteFileOptions,
} from "./files.ts";
export {
  createServerIo,
  type Respond,
  type RunningServer,
  type ServerIo,
  writeLog,
} from "./io.ts";
export { listen } from "./listen.ts";
export {
  createLogWriter,
  type LogWriter,
  operatorLine,
  type RejectionSource,
  surviveRejections,
} from "./log.ts";
export {
  onHangup,
  readList,
  readVariable,
  signalled,
  terminalColumns,
  writeAll,
} from "./streams.ts";
export {
  runServer,
  type ServerProgram,
  serveUntilStopped,
  type Startup,
} from "./run_server.ts";
