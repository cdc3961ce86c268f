/**
 * A server as a program: from words to an exit code. Never loads Hono.
 *
 * @module
 */
export { createServerIo, type ServerIo, writeLog } from "./io.ts";
export { listen, type Respond, type RunningServer } from "./listen.ts";
export {
  createLogWriter,
  type LogWriter,
  operatorLine,
  type RejectionSource,
  surviveRejections,
} from "./log.ts";
export {
  runServer,
  type ServerProgram,
  serveUntilStopped,
  type Startup,
} from "./run_server.ts";
