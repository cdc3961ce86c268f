/**
 * The packages of the workspace, their entry points and their version, read
 * from the `deno.json` files. As a program it lints the documentation of every
 * entry point: `deno task doc`.
 *
 * @module
 */

/** The project's root. */
export const ROOT = new URL("../", import.meta.url);

interface Config {
  readonly name: string;
  readonly version: string;
  readonly workspace?: readonly string[];
  readonly exports: string | Readonly<Record<string, string>>;
}

function readConfig(folder = ""): Config {
  const url = new URL(`${folder}/deno.json`.replace(/^\//, ""), ROOT);
  return JSON.parse(Deno.readTextFileSync(url));
}

/** The folders of the packages, in the order of their dependencies. */
export const PACKAGES: readonly string[] = (readConfig().workspace ?? [])
  .map((path) => path.replace(/^\.\//, ""));

/** The version of each package by its name, such as `@sig/core`. */
export const VERSIONS: ReadonlyMap<string, string> = new Map(
  PACKAGES.map(readConfig).map(({ name, version }) => [name, version]),
);

/** The common version of all packages. */
export const VERSION: string = readConfig("cli").version;

/** An entry point of a package. */
export interface Entry {
  /** The package. */
  readonly name: string;
  /** The part after `jsr:@sig/` of its specifier. */
  readonly specifier: string;
  /** Path of its file from the project's root. */
  readonly file: string;
}

/** Every entry point of every package. */
export const ENTRIES: readonly Entry[] = PACKAGES.flatMap((name) => {
  const { exports } = readConfig(name);
  const paths = typeof exports === "string" ? { ".": exports } : exports;
  return Object.entries(paths).map(([path, file]) => ({
    name,
    specifier: name + path.slice(1),
    file: new URL(file, `file:///${name}/`).pathname.slice(1),
  }));
});

/**
 * Entry points with types of Hono or zod in their signatures, which the lint
 * rejects, and the files that are linted instead.
 */
const OF_OTHERS: Readonly<Record<string, readonly string[]>> = {
  "api/internal/http": ["api/http/options.ts"],
  "api/internal/sig-api": [],
  "api/internal/schemas": [],
  "web/hono": [],
  "web/sig-web": [],
};

/** Folders that are not part of the checkout, and copies of other projects. */
const NOT_OURS = /^(?:\.git|coverage|dist|links|node_modules)$/;

/**
 * Yields the paths of this project's files from the root, in a folder whose
 * path ends with a slash (default: all).
 */
export function* ownFiles(folder = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, ROOT))) {
    if (NOT_OURS.test(name)) continue;
    if (isDirectory) yield* ownFiles(`${folder}${name}/`);
    else yield folder + name;
  }
}

/** Computes SHA-256 in hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(digest).toHex();
}

/**
 * Runs a program until it exits and returns stdout.
 *
 * @throws {Error} with its stderr if it fails.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  cwd: string | URL = ROOT,
): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, {
    ...{ args: [...args], cwd, stdin: "null" },
  }).output();
  const said = new TextDecoder().decode(success ? stdout : stderr);
  if (success) return said;
  throw new Error(`${program} ${args[0]} failed: ${said.trim()}`);
}

if (import.meta.main) {
  const files = ENTRIES.flatMap(({ specifier, file }) =>
    OF_OTHERS[specifier] ?? [file]
  );
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", ...files],
    cwd: ROOT,
    stdout: "null",
    stderr: "inherit",
  }).output();
  Deno.exit(code);
}
