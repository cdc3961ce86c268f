/**
 * What JSR's server refuses of a package, beyond what `deno publish` looks at
 * before. Its rules as of August 2026 (jsr-io/jsr: `api/src/tarball.rs`,
 * `api/src/analysis.rs`, `crates/jsr_types/src/ids.rs`), asked of Deno's own
 * module graph. Left out: recognising the licence's text, documentation, and
 * whether dependencies exist. @module
 */

import { filesBelow } from "./files_below.ts";
import { runWell } from "../../kit/process.ts";

/** Why a package is not taken. */
export interface Refusal {
  /** JSR's code of the error. */
  readonly code: string;
  /** What is wrong, and where. */
  readonly message: string;
}

const MAX_BYTES = 20 * 1024 * 1024;
const MAX_PATH = 155;
const MAX_NAME = 95;
const RESERVED = /^(?:aux|con|nul|prn|com[1-9]|lpt[1-9])$/i;
const LICENCE = /^\/(?:LICEN[SC]E|COPYING(?:\.LESSER)?)(?:\.md|\.txt)?$/;

/** As much of `deno info --json` as is read here. */
interface Graph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly local?: string;
    readonly kind?: string;
    readonly mediaType?: string;
    readonly error?: string;
    readonly dependencies?: readonly {
      readonly specifier: string;
      readonly code?: { readonly error?: string };
      readonly assertionType?: string;
    }[];
  }[];
}

/** The first rule that an unpacked package breaks. */
export async function refusalOf(
  folder: string,
  name: string,
  version: string,
): Promise<Refusal | undefined> {
  return await refusalOfFiles(folder) ??
    await refusalOfConfig(folder, name, version) ??
    await refusalOfModules(folder);
}

async function refusalOfFiles(folder: string): Promise<Refusal | undefined> {
  const seen = new Map<string, string>();
  let total = 0;
  for await (const path of filesBelow(folder)) {
    const { isSymlink, size } = await Deno.lstat(folder + path);
    if (isSymlink) return { code: "linkInTarball", message: path };
    const why = pathFault(path);
    if (why !== undefined) {
      return { code: "invalidPath", message: `${path}: ${why}` };
    }
    total += size;
    if (total > MAX_BYTES) {
      const code = size > MAX_BYTES ? "fileTooLarge" : "packageTooLarge";
      return { code, message: `${path}: ${total}` };
    }
    const other = seen.get(path.toLowerCase());
    if (other !== undefined) {
      const message = `${[path, other].sort().join(" and ")}`;
      return { code: "caseInsensitiveDuplicatePath", message };
    }
    seen.set(path.toLowerCase(), path);
  }
}

function pathFault(path: string): string | undefined {
  const names = path.split("/").slice(1);
  if (path.length > MAX_PATH) return "too long";
  if (names.at(-1)!.length > MAX_NAME) return "its last part is too long";
  if (names[0]!.toLowerCase() === "_dist") return "_dist is JSR's own";
  for (const name of names) {
    if (!/^[a-zA-Z0-9$()+\-.@[\]_{}~]+$/.test(name)) return "a character";
    if (name.endsWith(".")) return "a dot at the end";
    if (RESERVED.test(name.replace(/\.[^.]*$/, ""))) return "a reserved name";
  }
}

async function refusalOfConfig(
  folder: string,
  name: string,
  version: string,
): Promise<Refusal | undefined> {
  const files = await Array.fromAsync(filesBelow(folder));
  if (!files.includes("/deno.json")) {
    return { code: "missingConfigFile", message: "/deno.json" };
  }
  const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  if (config.name !== name) {
    return { code: "configFileNameMismatch", message: config.name };
  }
  if (config.version !== version) {
    return { code: "configFileVersionMismatch", message: config.version };
  }
  for (const path of exportsOf(config)) {
    if (!/^\.\/.*\.[^/]+$/.test(path) || !files.includes(path.slice(1))) {
      return { code: "configFileExportsInvalid", message: path };
    }
  }
  if (config.license === undefined && !files.some((it) => LICENCE.test(it))) {
    return { code: "missingLicense", message: "no LICENSE" };
  }
}

function exportsOf({ exports }: {
  exports: string | Readonly<Record<string, string>>;
}): readonly string[] {
  return typeof exports === "string" ? [exports] : Object.values(exports);
}

async function refusalOfModules(folder: string): Promise<Refusal | undefined> {
  const config = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  for (const path of exportsOf(config)) {
    // By itself, so that no configuration around it answers for the package.
    const args = ["info", "--quiet", "--json", "--no-config", "--no-lock"];
    const text = await runWell(
      Deno.execPath(),
      [...args, "--no-remote", "--no-npm", `${folder}/${path}`],
      { cwd: folder },
    );
    const { modules }: Graph = JSON.parse(text);
    for (const module of modules) {
      const refusal = await refusalOfModule(module);
      if (refusal !== undefined) return refusal;
    }
  }
}

async function refusalOfModule(
  module: Graph["modules"][number],
): Promise<Refusal | undefined> {
  const { specifier, local, error, mediaType, dependencies = [] } = module;
  if (!specifier.startsWith("file:")) return;
  if (error !== undefined) return { code: "graphError", message: error };
  if (mediaType === "Cjs" || mediaType === "Cts") {
    return { code: "commonJs", message: specifier };
  }
  for (const { specifier: named, code, assertionType } of dependencies) {
    if (assertionType !== undefined && assertionType !== "json") {
      return {
        code: "graphError",
        message: "failed to build module graph: The import attribute type of " +
          `"${assertionType}" is unsupported. ${specifier}: ${named}`,
      };
    }
    const fault = specifierFault(named);
    if (fault !== undefined) return { code: fault, message: named };
    if (code?.error !== undefined) {
      return { code: "graphError", message: code.error };
    }
  }
  if (local === undefined || module.kind !== "esm") return;
  const text = await Deno.readTextFile(local);
  for (const [code, pattern] of BANNED) {
    const found = pattern.exec(text);
    if (found !== null) {
      return { code, message: `${specifier}: ${found[0].trim()}` };
    }
  }
}

function specifierFault(specifier: string): string | undefined {
  if (/^\.{0,2}\//.test(specifier)) return;
  const scheme = /^([a-z]+):/.exec(specifier)?.[1];
  if (scheme === "npm" || scheme === "jsr") {
    return /^\w+:\/?(?:@[^/]+\/)?[^@/]+@(?!\*)[^/]+/.test(specifier)
      ? undefined
      : "missingConstraint";
  }
  return scheme !== undefined && /^(?:data|node|bun|file)$/.test(scheme)
    ? undefined
    : scheme === undefined
    ? "graphError"
    : "invalidExternalImport";
}

/** Syntax at the beginning of a line, which is where our formatter puts it. */
const BANNED: readonly (readonly [code: string, pattern: RegExp])[] = [
  ["globalTypeAugmentation", /^(?:export )?declare (?:global|module ["']).*/m],
  ["globalTypeAugmentation", /^export (?:as namespace|=).*/m],
  ["commonJs", /^import \w+ = require\(.*/m],
  ["bannedImportAssertion", /^(?:import|export)\b.*["'] assert \{.*/m],
  [
    "bannedTripleSlashDirectives",
    /^\/\/\/\s+<reference\s+(?:no-default-lib\s*=\s*"true"|lib\s*=\s*["'][^"']+["'])\s*\/>\s*$/m,
  ],
];
