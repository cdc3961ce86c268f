/** The packages that are shipped, as their files say. @module */

/** The project's root. */
export const ROOT = new URL("../../../", import.meta.url);

/** All of them, sorted. */
export const PACKAGES = [
  "api",
  "cli",
  "consumer",
  "core",
  "issuer",
  "jose",
  "web",
] as const;

/** An entry point of a package. */
export interface Entry {
  /** The package. */
  readonly name: string;
  /** What follows `jsr:@sig/` to import it. */
  readonly specifier: string;
  /** Its file, from the project's root. */
  readonly file: string;
}

interface Config {
  readonly version: string;
  readonly exports: string | Readonly<Record<string, string>>;
}

function readConfig(name: string): Config {
  const text = Deno.readTextFileSync(new URL(`${name}/deno.json`, ROOT));
  return JSON.parse(text);
}

/** The version that all of them share. */
export const VERSION = readConfig("cli").version;

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
