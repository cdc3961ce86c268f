/**
 * Publishes the packages to JSR, from a prepared copy. Run by
 * `deno task publish`; arguments go to `deno publish`, `--dry-run` for one.
 *
 * JSR's server refuses `with { type: "text" }` although the dry run passes
 * (jsr-io/jsr#1478): in the copy such imports are constants, and the files that
 * were imported so are left out.
 *
 * @module
 */

import { standInFault } from "./stand_ins.ts";

const ROOT = new URL("../", import.meta.url);

/** A text import as this project writes it, a line of its own. */
const TEXT_IMPORT =
  /^import (\w+) from "(\.\.?\/[^"]+)" with \{ type: "text" \};$/gm;
/** What must not be left: any other spelling, and bytes. */
const ASSET_IMPORT = /\bwith\s*:?\s*\{\s*(?:type|"type")\s*:\s*["'](?!json)/;
const MODULE = /\.[jt]sx?$/;
/** Never published (deno.json excludes them), so never prepared. */
const NOT_OURS = /(?:_test\.ts|\/testdata|\/ui_test|\/node_modules|\/\.[^/]*)$/;

/**
 * Copies the workspace, with texts as constants.
 *
 * @param root The checkout; its URL ends with a slash.
 * @param folder An empty folder.
 * @throws {Error} when an import is left that JSR refuses.
 */
export async function preparePublish(root: URL, folder: string): Promise<void> {
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", root)),
  );
  const from = decodeURIComponent(root.pathname);
  for (const file of ["deno.json", "deno.lock", "LICENSE"]) {
    await Deno.copyFile(from + file, `${folder}/${file}`);
  }
  for (const path of [...config.workspace, ...config.links ?? []]) {
    const name = path.replace(/^\.\//, "");
    await copyFolder(`${from}${name}`, `${folder}/${name}`);
  }
  for (const path of config.workspace) {
    await inlineTexts(`${folder}/${path.replace(/^\.\//, "")}`);
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (NOT_OURS.test(`/${name}`)) continue;
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

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
    // Asked of what was not inlined: a text may say anything.
    if (ASSET_IMPORT.test(code.replaceAll(TEXT_IMPORT, ""))) {
      throw new Error(
        `Cannot publish: ${path} has an import with a type that JSR refuses`,
      );
    }
    if (imports.length > 0) await Deno.writeTextFile(path, prepared);
  }
  for (const file of inlined) await Deno.remove(file);
}

async function* modulesBelow(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* modulesBelow(`${folder}/${name}`);
    else if (MODULE.test(name)) yield `${folder}/${name}`;
  }
}

async function isDirty(): Promise<boolean> {
  const { success, stdout } = await new Deno.Command("git", {
    args: ["status", "--porcelain"],
    cwd: ROOT,
    stderr: "null",
  }).output();
  return !success || stdout.length > 0;
}

if (import.meta.main) {
  const allowDirty = Deno.args.includes("--allow-dirty");
  // The copy is not a repository: Deno cannot check there what is checked here.
  if (!allowDirty && await isDirty()) {
    console.error(
      "Cannot publish: there are changes that are not committed. " +
        "Commit them, or allow them with --allow-dirty.",
    );
    Deno.exit(1);
  }
  // Another registry is one of a test, on this machine.
  const isForOthers = !Deno.args.includes("--dry-run") &&
    Deno.env.get("JSR_URL") === undefined;
  const fault = isForOthers ? await standInFault(ROOT) : undefined;
  if (fault !== undefined) {
    console.error(`Cannot publish: ${fault}`);
    Deno.exit(1);
  }
  const folder = await Deno.makeTempDir({ prefix: "sig-publish-" });
  let code = 1;
  try {
    await preparePublish(ROOT, folder);
    const child = new Deno.Command(Deno.execPath(), {
      args: ["publish", ...Deno.args],
      cwd: folder,
    }).spawn();
    code = (await child.status).code;
  } catch (error) {
    console.error((error as Error).message);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  Deno.exit(code);
}
