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

/** The libraries that each needs. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  jose: ["core"],
  issuer: ["core", "jose"],
  consumer: ["core", "jose"],
};

/** The oldest Node in which the tests run the packages. */
const ENGINES = { node: ">=22" };

/** A driver that only those need who keep pins in Redis. */
const OPTIONAL = "@redis/client";

/** The members of a package.json that are changed here. */
interface PackageJson {
  readonly exports: Readonly<Record<string, { readonly import: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [member: string]: unknown;
}

/** A library as it is packed. */
interface Packed {
  readonly name: string;
  /** Its package.json and its files, without what it bundles. */
  readonly folder: string;
  /** Its package.json, without what it bundles. */
  readonly json: PackageJson;
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
    const built = new Map<string, Packed>();
    const packed: string[] = [];
    for (const name of LIBRARIES) {
      built.set(name, await buildLibrary(name, `${temporary}/${name}`));
      const path = `${out}/sig-${name}-${VERSION}.tgz`;
      const needed = (NEEDS[name] ?? []).map((each) => built.get(each)!);
      await packLibrary(built.get(name)!, needed, path);
      packed.push(path);
    }
    return packed;
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
}

/** Writes a library's package without the libraries that it needs. */
async function buildLibrary(name: string, parent: string): Promise<Packed> {
  const from = decodeURIComponent(new URL(`${name}/`, ROOT).pathname);
  const tarball = `${parent}.tgz`;
  await runProgram(DENO, ["pack", "--allow-dirty", "-o", tarball], from);
  const folder = `${parent}/package`;
  await Deno.mkdir(parent);
  await runProgram("tar", ["-xzf", tarball, "-C", parent]);
  const given: PackageJson = JSON.parse(
    await Deno.readTextFile(`${folder}/package.json`),
  );
  // Declarations stay; the code is replaced by bundles.
  await removeCode(folder);
  const entries = Object.values(given.exports)
    .map((each) => from + each.import.slice(2).replace(/\.js$/, ".ts"));
  const external = ["@sig/*", OPTIONAL]
    .flatMap((each) => ["--external", each]);
  await runProgram(DENO, [
    ...["bundle", "--quiet", "--platform", "deno", "--code-splitting"],
    ...[...external, "--outdir", folder, ...entries],
  ], from);
  await Deno.copyFile(new URL("LICENSE", ROOT), `${folder}/LICENSE`);
  await Deno.copyFile(`${from}README.md`, `${folder}/README.md`);
  const { dependencies = {}, ...rest } = given;
  // JSR packages are bundled, since npm's registry does not have them.
  const others = Object.entries(dependencies)
    .filter(([each]) => !/^@(?:jsr|sig)\//.test(each));
  const isOptional = ([each]: readonly [string, string]) => each === OPTIONAL;
  const peers = others.filter(isOptional);
  const json = {
    ...rest,
    engines: ENGINES,
    dependencies: Object.fromEntries(
      others.filter((each) => !isOptional(each)),
    ),
    ...(peers.length > 0 && {
      peerDependencies: Object.fromEntries(peers),
      peerDependenciesMeta: { [OPTIONAL]: { optional: true } },
    }),
  };
  return { name, folder, json };
}

/**
 * Writes a tarball that contains the libraries that it needs, and names what
 * they need: no registry is asked for `@sig/…`, which a stranger could own.
 * They are only in `bundleDependencies`, since bun asks for everything in
 * `dependencies`.
 */
async function packLibrary(
  { folder, json }: Packed,
  needed: readonly Packed[],
  path: string,
): Promise<void> {
  const dependencies = Object.assign(
    {},
    ...[...needed, { json }].map(({ json }) => json.dependencies),
  );
  const bundled = needed.map(({ name }) => `@sig/${name}`);
  const whole = {
    ...json,
    dependencies,
    ...(bundled.length > 0 && { bundleDependencies: bundled }),
  };
  const parent = await Deno.makeTempDir({ dir: `${folder}/..` });
  const copy = `${parent}/package`;
  await runProgram("cp", ["-r", folder, copy]);
  await writeJson(`${copy}/package.json`, whole);
  for (const { folder, json, name } of needed) {
    const inside = `${copy}/node_modules/@sig/${name}`;
    await Deno.mkdir(`${copy}/node_modules/@sig`, { recursive: true });
    await runProgram("cp", ["-r", folder, inside]);
    await writeJson(`${inside}/package.json`, json);
  }
  await runProgram("tar", ["-czf", path, "-C", parent, "package"]);
}

async function writeJson(path: string, value: unknown): Promise<void> {
  await Deno.writeTextFile(path, `${JSON.stringify(value, undefined, 2)}\n`);
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
