/**
 * Runs a server as a program, from its arguments to an exit code. Never loads
 * Hono.
 *
 * @example A server on any free port
 * ```ts
 * import { listen } from "@sig/api/server";
 * import { assertEquals } from "@std/assert";
 *
 * const respond = () => Promise.resolve(new Response("hello"));
 * const server = listen({ hostname: "127.0.0.1", port: 0 }, respond);
 * assertEquals(await (await fetch(server.url)).text(), "hello");
 * await server.shutdown(1_000);
 * ```
 *
 * @module
 */
export { listen, type Respond, type RunningServer } from "./listen.ts";
export { operatorLine, surviveRejections } from "./log.ts";
export {
  createServerIo,
  runServer,
  serveProgram,
  type ServerIo,
  type ServerProgram,
  serveUntilStopped,
  startProgram,
  type Startup,
} from "./run_server.ts";
export {
  type Exposure,
  readServerFlags,
  requireOnlyHere,
  SERVER_FLAGS,
  type ServerPins,
  type ServerSettings,
} from "./server_flags.ts";
export {
  type PlatformSettings,
  readSettings,
  settingName,
  type Settings,
  type SettingsIo,
  variableName,
  type Variables,
} from "./settings.ts";
export {
  readStorePassword,
  type StoreFlags,
  type StorePassword,
} from "./store_password.ts";
