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
export {
  type Flag,
  type FlagOptions,
  type Flags,
  type FlagSpec,
  flagSpecs,
  type GivenFlags,
  many,
  optional,
  readValues,
  required,
  toggle,
  usageError,
  type Values,
  type ValueType,
} from "./flag.ts";
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
export {
  displayWidth,
  example,
  flagRow,
  isSample,
  paragraphs,
  partsOf,
  twoColumns,
  usage,
  wrap,
} from "./help_text.ts";
export { type FlagRules, type ParsedFlags, parseFlags } from "./parse_flags.ts";
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
export { parseYaml } from "./yaml.ts";
