/**
 * Publishes the packages to JSR from a tested copy without links. Run by `deno
 * task publish`. `--output=FILE` writes the copy as an archive (`.tar.gz`)
 * instead, for `deno publish` on a machine that runs no test. `--tests=PATH`
 * runs only these tests; other arguments are passed to `deno publish`. With
 * `--dry-run` the copy keeps the links and no test runs, so that it works
 * without access to JSR.
 *
 * JSR's server refuses `with { type: "text" }` although the dry run passes
 * (jsr-io/jsr#1478): in the copy, such imports are constants, and the imported
 * files are removed.
 *
 * @module
 */

import { copyCheckout, makeReleaseCopy, splitTests } from "./release_copy.ts";
import { PACKAGES, ROOT, runProgram } from "./workspace.ts";

/** Matches a text import, which is always one line in this project. */
const TEXT_IMPORT =
  /^import (\w+) from "(\.\.?\/[^"]+)" with \{ type: "text" \};$/gm;
/** Matches imports that must not remain: other spellings, and bytes. */
const ASSET_IMPORT = /\bwith\s*:?\s*\{\s*(?:type|"type")\s*:\s*["'](?!json)/;
const MODULE = /\.[jt]sx?$/;
/** Files that are never published (deno.json excludes them). */
const NOT_OURS = /(?:_test\.tsx?|\/testdata|\/ui_test)$/;

/**
 * Replaces text imports of a package by constants.
 *
 * @throws {Error} if an import remains that JSR refuses.
 */
async function inlineTexts(folder: string): Promise<void> {
  const inlined = new Set<string>();
  for (const path of await Array.fromAsync(modulesBelow(folder))) {
    const code = await Deno.readTextFile(path);
    const imports = [...code.matchAll(TEXT_IMPORT)];
    let prepared = code;
    for (const [line, name, specifier] of imports) {
      const file = new URL(specifier!, new URL(`file://${path}`)).pathname;
      const text = JSON.stringify(await Deno.readTextFile(file));
      prepared = prepared.replace(line!, () => `const ${name} = ${text};`);
      inlined.add(file);
    }
    // Tests only the code without inlined texts, which may contain anything.
    if (ASSET_IMPORT.test(code.replaceAll(TEXT_IMPORT, ""))) {
      throw new Error(
        `${path} has an import with a type that JSR refuses`,
      );
    }
    if (imports.length > 0) await Deno.writeTextFile(path, prepared);
  }
  for (const file of inlined) await Deno.remove(file);
}

async function* modulesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (NOT_OURS.test(path)) continue;
    if (isDirectory) yield* modulesBelow(path);
    else if (MODULE.test(name)) yield path;
  }
}

async function isDirty(): Promise<boolean> {
  const status = await runProgram("git", ["status", "--porcelain"])
    .catch(() => "not a repository");
  return status !== "";
}

if (import.meta.main) {
  const { tests, rest } = splitTests(Deno.args);
  const output = rest.find((arg) => arg.startsWith("--output="))
    ?.slice("--output=".length);
  // The copy is not a Git repository, so Deno can't check this there.
  if (!rest.includes("--allow-dirty") && await isDirty()) {
    console.error(
      "Cannot publish: there are changes that are not committed. " +
        "Commit them, or allow them with --allow-dirty.",
    );
    Deno.exit(1);
  }
  let code = 1;
  try {
    await using copy = rest.includes("--dry-run")
      ? await copyCheckout(ROOT)
      : await makeReleaseCopy(ROOT, tests);
    for (const name of PACKAGES) {
      await inlineTexts(new URL(name, copy.root).pathname);
    }
    if (output !== undefined) {
      await runProgram("tar", ["-czf", output, "-C", copy.root.pathname, "."]);
      code = 0;
    } else {
      const child = new Deno.Command(Deno.execPath(), {
        args: ["publish", ...rest],
        cwd: copy.root,
      }).spawn();
      code = (await child.status).code;
    }
  } catch (error) {
    console.error(`Cannot publish: ${(error as Error).message}`);
  }
  Deno.exit(code);
}
