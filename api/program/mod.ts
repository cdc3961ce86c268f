/**
 * What the three programs of SIG share: flags and help texts, settings, files,
 * signals, the log, and a server's process. It is for the packages of this
 * project and is not covered by semantic versioning. Imports no third-party
 * package, so that a program starts quickly.
 *
 * @example
 * ```ts
 * import { parseAddress } from "@sig/api/program";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseAddress("[::1]:8787"), { hostname: "::1", port: 8787 });
 * ```
 *
 * @example A server on any free port
 * ```ts
 * import { listen } from "@sig/api/program";
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
export * from "./flag.ts";
export * from "./help_text.ts";
export * from "./parse_flags.ts";
export * from "./run_server.ts";
export * from "./settings.ts";
export * from "./store_password.ts";
export * from "./user_error.ts";
export * from "./yaml.ts";
export {
  createFile,
  createPrivateFile,
  decodeSecretLine,
  readFile,
  replaceFile,
  tooLarge,
} from "./files.ts";
export {
  createProcessIo,
  type DataFolder,
  dataFolder,
  onHangup,
  pause,
  type ProcessIo,
  readVariable,
  signalled,
  writeAll,
} from "./io.ts";
export { listen, type Respond, type RunningServer } from "./listen.ts";
export { operatorLine, surviveRejections } from "./log.ts";
export {
  type Exposure,
  readServerFlags,
  requireOnlyHere,
  SERVER_FLAGS,
  type ServerPins,
  type ServerSettings,
} from "./server_flags.ts";
export {
  type Address,
  address,
  count,
  duration,
  file,
  folder,
  isLoopback,
  oneOf,
  parseAddress,
  rate,
  text,
} from "./values.ts";
