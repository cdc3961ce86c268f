/** Where a program keeps what is its user's. @module */

import { quote } from "@sig/core/internal";

/** A folder, or why there is none. */
export type DataFolder =
  | { readonly folder: string }
  | { readonly folder?: undefined; readonly why: string };

/** Of Windows, too. */
const ABSOLUTE = /^(?:\/|\\\\|[A-Za-z]:[\\/])/;

/**
 * The folder `sig` of the user's data directory (XDG base directory
 * specification). A place below the working directory is not used:
 * another start would find nothing there, and a private key could get into what
 * is published.
 *
 * @example
 * ```ts
 * import { dataFolder } from "@sig/api/flags";
 * import { assertEquals } from "@std/assert";
 *
 * const env = { HOME: "/home/ada" };
 * assertEquals(dataFolder((name) => env[name as "HOME"]), {
 *   folder: "/home/ada/.local/share/sig",
 * });
 * ```
 *
 * @param env Reads a variable of the environment.
 */
export function dataFolder(
  env: (name: string) => string | undefined,
): DataFolder {
  const data = env("XDG_DATA_HOME");
  // A relative one is to be ignored, says that specification.
  if (data?.startsWith("/")) return { folder: `${data}/sig` };
  const home = env("HOME");
  if (home === undefined || home === "") {
    return { why: "there is no HOME (or it may not be read)" };
  }
  return ABSOLUTE.test(home)
    ? { folder: `${home}/.local/share/sig` }
    : { why: `HOME is ${quote(home)}, which is not an absolute path` };
}
