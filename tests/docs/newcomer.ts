/**
 * The environment that the documents assume: Node, a shell and this checkout,
 * after `deno task install`.
 *
 * @module
 */

import { shellLauncher } from "../../tools/launcher.ts";
import { EXECUTABLES } from "../../tools/programs.ts";
import { denoDir } from "../kit/process.ts";
import { programs } from "../kit/programs.ts";

export const ROOT = new URL("../..", import.meta.url).pathname.replace(
  /\/$/,
  "",
);
const SHIMS = new URL("shims", import.meta.url).pathname;

/** The environment of a new user. */
export interface Newcomer extends AsyncDisposable {
  /** The home folder. */
  readonly home: string;
  /** All environment variables of the shell. */
  readonly env: Readonly<Record<string, string>>;
}

/** Creates a home with `sig`, `sig-api` and `sig-web` in its PATH. */
export async function createNewcomer(): Promise<Newcomer> {
  const { PATH, JSR_URL } = Deno.env.toObject();
  const bundle = await programs();
  const home = await Deno.makeTempDir({ prefix: "sig-newcomer-" });
  const bin = `${home}/.local/bin`;
  const env = {
    PATH: `${bin}:${SHIMS}:${PATH}`,
    HOME: home,
    // Shares the module cache, on which the documents do not depend.
    DENO_DIR: await denoDir(),
    ...(JSR_URL === undefined ? {} : { JSR_URL }),
    NO_COLOR: "1",
    DOCS_ROOT: ROOT,
    DOCS_DENO: Deno.execPath(),
    DOCS_PROGRAMS: bundle,
  };
  // The same launchers as the task writes; tests/ship/install_test.ts runs the
  // task.
  await Deno.mkdir(bin, { recursive: true });
  for (const executable of EXECUTABLES) {
    const text = shellLauncher(executable, {
      deno: Deno.execPath(),
      bundle,
      names: 0,
    });
    await Deno.writeTextFile(`${bin}/${executable.name}`, text, {
      mode: 0o755,
    });
  }
  return {
    home,
    env,
    [Symbol.asyncDispose]: () => Deno.remove(home, { recursive: true }),
  };
}
