/**
 * Strict parsing of command lines, and help texts that fit the terminal, for
 * the three programs of SIG.
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
