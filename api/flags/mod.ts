/**
 * The words of a command line, read strictly, and its help, as wide as the
 * terminal: what the three programs of SIG have in common.
 *
 * @example
 * ```ts
 * import { parseAddress } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseAddress("[::1]:8787"), { hostname: "::1", port: 8787 });
 * ```
 *
 * @module
 */
export { type Address, isLoopback, parseAddress } from "./address.ts";
export { type DataFolder, dataFolder } from "./data_folder.ts";
export { displayWidth } from "./display_width.ts";
export { parseDuration } from "./duration.ts";
export { flagRow } from "./flag_row.ts";
export {
  example,
  isSample,
  paragraphs,
  partsOf,
  twoColumns,
  usage,
} from "./help_layout.ts";
export type { HidePlaceOptions } from "./hidden_place.ts";
export { operatorLine } from "./operator_line.ts";
export type { FlagSpec, GivenFlags } from "./flag_spec.ts";
export { type FlagRules, type ParsedFlags, parseFlags } from "./parse_flags.ts";
export {
  type Exposure,
  findPublicSign,
  type PublicSign,
} from "./public_sign.ts";
export {
  type FlaggedServiceOptions,
  LOOPBACK_HOSTS,
  readServerFlags,
  requireOnlyHere,
  SERVER_FLAGS,
  type ServerSettings,
  serviceOptionsOf,
} from "./server_flags.ts";
export {
  openPinsOf,
  openServerPins,
  SERVER_PIN_FLAGS,
  type ServerPins,
  type ServerReach,
} from "./server_pins.ts";
export { usageError } from "./usage_error.ts";
export { wrap } from "./wrap.ts";
