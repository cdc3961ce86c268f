/** Programs of npm packages, which npx keeps in its cache. @module */

import { run } from "./process.ts";

/**
 * Returns the folder `node_modules` with these packages, which npx installs the
 * first time; undefined if it can't.
 */
export async function npmPackages(
  packages: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const flags = packages.flatMap((each) => ["-p", each]);
  const printPath = ["-c", 'printf %s "$PATH"'];
  try {
    const { code, stdout } = await run(
      "npx",
      ["-y", "--prefer-offline", ...flags, ...printPath],
      // Few retries, which would take minutes without a network.
      { env: { npm_config_fetch_retries: "1", ...env } },
    );
    return code === 0 ? /^([^:]*)\/\.bin:/.exec(stdout)?.[1] : undefined;
  } catch {
    return undefined; // npx is not installed
  }
}
