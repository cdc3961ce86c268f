/**
 * Writes the libraries as npm packages for Node: `deno task pack`. Their
 * imports of the standard library are bundled, since npm's registry does not
 * have it.
 *
 * @module
 */

import { ROOT, runProgram, VERSION } from "./workspace.ts";

const DENO = Deno.execPath();

/** The libraries in the order of their dependencies. */
const LIBRARIES = ["core", "jose", "issuer", "consumer"];

/** Exports with contract tests for drivers, which need Deno. */
const LEFT_OUT = /^\.\/(?:testing|store-contract)$/;

/** The members of a package.json that are changed here. */
interface PackageJson {
  exports: Record<string, { readonly import: string }>;
  dependencies?: Record<string, string>;
}

/**
 * Packs each library.
 *
 * @param out The folder for the tarballs; created if it is missing.
 * @returns Their paths.
 */
export async function packLibraries(out: string): Promise<readonly string[]> {
  await Deno.mkdir(out, { recursive: true });
  const temporary = await Deno.makeTempDir();
  try {
    const packed: string[] = [];
    for (const name of LIBRARIES) {
      const path = `${out}/sig-${name}-${VERSION}.tgz`;
      await packLibrary(name, temporary, path);
      packed.push(path);
    }
    return packed;
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

async function packLibrary(
  name: string,
  temporary: string,
  path: string,
): Promise<void> {
  const from = decodeURIComponent(new URL(`${name}/`, ROOT).pathname);
  const tarball = `${temporary}/${name}.tgz`;
  await runProgram(DENO, ["pack", "--allow-dirty", "-o", tarball], from);
  const parent = `${temporary}/${name}`;
  const folder = `${parent}/package`;
  await Deno.mkdir(parent);
  await runProgram("tar", ["-xzf", tarball, "-C", parent]);
  const json: PackageJson = JSON.parse(
    await Deno.readTextFile(`${folder}/package.json`),
  );
  json.exports = Object.fromEntries(
    Object.entries(json.exports).filter(([key]) => !LEFT_OUT.test(key)),
  );
  // Declarations stay; the code is replaced by bundles.
  await removeCode(folder);
  const entries = Object.values(json.exports)
    .map((each) => from + each.import.slice(2).replace(/\.js$/, ".ts"));
  const external = ["@sig/*", "jose/*", "@redis/client"]
    .flatMap((each) => ["--external", each]);
  await runProgram(DENO, [
    ...["bundle", "--quiet", "--platform", "deno", "--code-splitting"],
    ...[...external, "--outdir", folder, ...entries],
  ], from);
  const below = LIBRARIES.slice(0, LIBRARIES.indexOf(name))
    .filter((each) => each !== "issuer")
    .map((each) => [`@sig/${each}`, VERSION]);
  // JSR packages are bundled, since npm's registry does not have them.
  const others = Object.entries(json.dependencies ?? {})
    .filter(([name]) => !name.startsWith("@jsr/"));
  json.dependencies = Object.fromEntries([...below, ...others]);
  await Deno.writeTextFile(
    `${folder}/package.json`,
    `${JSON.stringify(json, undefined, 2)}\n`,
  );
  await Deno.copyFile(new URL("LICENSE", ROOT), `${folder}/LICENSE`);
  await Deno.copyFile(`${from}README.md`, `${folder}/README.md`);
  await runProgram("tar", ["-czf", path, "-C", parent, "package"]);
}

async function removeCode(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) await removeCode(path);
    else if (/\.js(?:\.map)?$/.test(name)) await Deno.remove(path);
  }
}

if (import.meta.main) {
  const out = decodeURIComponent(new URL("dist/npm", ROOT).pathname);
  for (const path of await packLibraries(out)) console.log(path);
}
