/**
 * The programs `sig`, `sig-api` and `sig-web`, and their bundle, which is what
 * `deno task install` and `deno task compile` use.
 *
 * @module
 */

import { ROOT, runProgram } from "./workspace.ts";

/** An executable. */
export interface Executable {
  /** Its name. */
  readonly name: string;
  /** Its entry point, from the project's root. */
  readonly entry: string;
  /**
   * Its permissions, which are fixed in the executable. None may start
   * processes, load native code or read system information. Only the shell
   * launcher of `sig` lets `watch --exec` start its program.
   */
  readonly permissions: readonly string[];
}

/** The executables. */
export const EXECUTABLES: readonly Executable[] = [
  {
    name: "sig",
    entry: "cli/main.ts",
    permissions: [
      "--allow-read",
      "--allow-write",
      "--allow-net",
      "--allow-env=SIG_KEYS_DIR,SIG_KEY_FILE,XDG_DATA_HOME,XDG_CACHE_HOME,HOME,NO_COLOR,SIG_REDIS_PASSWORD,SSH_AUTH_SOCK,SIG_API_*,SIG_WEB_*",
    ],
  },
  {
    name: "sig-api",
    entry: "api/main.ts",
    // Read access is for files that settings name; the environment is listed to
    // detect misspelt settings.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
  {
    name: "sig-web",
    entry: "web/main.ts",
    // No write permission: `--store kv:PATH` works in `sig web` only.
    permissions: ["--allow-net", "--allow-read", "--allow-env"],
  },
];

/**
 * Keeps V8's heaps small. By default each of the two semi-spaces of a thread
 * grows to 32 MiB, and the old generation to several times the live objects
 * before it is collected. With 2 MiB and 20 % growth, the first verification of
 * a million events needs over 100 MiB less.
 */
export const V8_FLAGS =
  "--v8-flags=--max-semi-space-size=2,--heap-growing-percent=20";

/** The only CommonJS package, which is bundled apart. */
const REDIS = "@redis/client";

/**
 * Bundles the programs of a checkout: about 40 files instead of 190 for a
 * command, which need no package. The code of a command is loaded when the
 * command is called.
 *
 * @param folder The target; existing files of the same names are replaced.
 * @param root The checkout; its URL ends with a slash.
 * @throws {Error} with Deno's message.
 */
export async function bundlePrograms(
  folder: string,
  root: URL = ROOT,
): Promise<void> {
  const bundle = (...args: string[]) =>
    runProgram(
      Deno.execPath(),
      ["bundle", "--quiet", "--platform=deno", "--minify", ...args],
      root,
    );
  const entries = EXECUTABLES.map(({ entry }) => entry);
  // Together, every start would load `node:module` for CommonJS.
  await Promise.all([
    bundle(
      ...["--code-splitting", `--external=${REDIS}`, `--outdir=${folder}`],
      ...entries,
    ),
    bundle(`--output=${folder}/redis_client.js`, "tools/redis_client.ts"),
  ]);
  const config = {
    unstable: ["kv"],
    imports: { [REDIS]: "./redis_client.js" },
    lock: false,
  };
  await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(config));
}

/** Returns the path of a program's entry in a folder of its bundle. */
export function bundledEntry({ entry }: Executable): string {
  return entry.replace(/\.ts$/, ".js");
}
