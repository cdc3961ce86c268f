/** Publishes all packages to a registry on loopback. @module */

import type { JsrRegistry } from "./jsr_registry.ts";
import { ROOT } from "../../../tools/workspace.ts";
import {
  denoDir,
  type Ran,
  run,
  runWell,
  tempFolder,
} from "../../kit/process.ts";

const DENO = Deno.execPath();
/** A small test, instead of all tests. */
export const SMALL_TEST = "--tests=tests/ship/testdata/leave_mark.ts";
/** The file that the small test leaves in the copy. */
export const MARK = "tested.txt";

/** Runs a tool with `@std` of a registry, without changing the shared cache. */
export async function runTool(
  { url }: Pick<JsrRegistry, "url">,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  await using cache = await tempFolder();
  const dir = await denoDir();
  // npm packages are shared; modules from this port are removed.
  for (const { name, isDirectory } of Deno.readDirSync(dir)) {
    if (!isDirectory || name === "remote") continue;
    await Deno.symlink(`${dir}/${name}`, `${cache.path}/${name}`);
  }
  const permissions = ["--allow-read", "--allow-write", "--allow-run"];
  return await run(
    DENO,
    ["run", "--quiet", "--no-prompt", ...permissions, ...args],
    {
      cwd: ROOT,
      env: { ...env, JSR_URL: url, NO_COLOR: "1", DENO_DIR: cache.path },
    },
  );
}

/**
 * Publishes all packages as the workflow does: the task `publish` writes an
 * archive of the tested copy, and the job with the permission to publish has
 * only the archive.
 */
export async function publishPackages(registry: JsrRegistry): Promise<void> {
  await using folder = await tempFolder();
  const { path } = folder;
  const flags = ["--allow-dirty", `--output=${path}/packages.tar.gz`];
  const { code, stdout, stderr } = await runTool(
    registry,
    ["tools/publish.ts", ...flags, SMALL_TEST],
  );
  if (code !== 0) throw new Error(`Cannot publish: ${stdout}${stderr}`);
  const options = { cwd: path, env: { JSR_URL: registry.url } };
  await runWell("tar", ["-xzf", "packages.tar.gz"], options);
  // The copy was tested before it was archived.
  await Deno.stat(`${path}/${MARK}`);
  // No type check here: jsr_test.ts checks the types of the published packages.
  await runWell(DENO, ["publish", "--no-check", "--token", "t"], options);
}
