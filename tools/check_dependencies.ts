/**
 * Checks the direction of the dependencies. Every package imports only those in
 * `ALLOWED`, and core imports nothing. Inside a package every folder imports
 * only folders below it, and there are no import cycles. Run by
 * `deno task check:deps`.
 *
 * @module
 */

import { ENTRIES, ROOT, runProgram } from "./workspace.ts";

/**
 * The allowed imports of each package: workspace members, then external
 * packages.
 */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  jose: ["core", "jsr:@std/encoding"],
  // @std/assert only in the contract tests of drivers.
  issuer: [
    ...["core", "jose"],
    ...[
      "jsr:@std/assert",
      "jsr:@std/csv",
      "jsr:@std/encoding",
      "jsr:@std/ulid",
    ],
  ],
  consumer: [
    "core",
    "jose",
    "npm:@redis",
    "jsr:@std/assert",
    "jsr:@std/encoding",
  ],
  cli: [
    ...["core", "jose", "issuer", "consumer", "api", "web"],
    ...["jsr:@std/http", "jsr:@std/yaml"],
    ...["npm:age-encryption", "npm:modern-tar"],
  ],
  api: [
    ...["core", "jose", "consumer"],
    ...["npm:hono", "npm:zod", "jsr:@std/http", "jsr:@std/yaml"],
  ],
  web: [
    ...["core", "jose", "issuer", "consumer", "api"],
    ...["npm:hono", "npm:jose", "npm:zod", "jsr:@std/assert"],
    ...["jsr:@std/encoding", "jsr:@std/http"],
    // Only for the page, which is bundled for browsers and not published.
    "npm:preact",
    "npm:qr",
  ],
};

/**
 * The folders of each package, from the lowest layer up; the package's own
 * files are above all.
 */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  core: ["errors", "text", "event", "replay", "ask"],
  jose: [
    ...["bytes", "keys", "event", "proofs", "recovery", "attestation"],
    "invitation",
  ],
  issuer: [
    ...["disk", "index", "store", "keys", "documents", "append"],
    ...["proofs", "recovery", "people", "plan", "testing"],
  ],
  consumer: [
    ...["fetch", "read", "proofs", "verify", "store", "memory", "follow"],
    ...["evidence", "ask"],
  ],
  cli: [
    ...["terminal", "output", "command_line", "people", "ask"],
    ...["issue", "doctor", "site", "export", "commands"],
  ],
  api: [
    ...["http", "program", "schemas", "ask", "openapi", "docs", "routes"],
  ],
  web: [
    ...["browser", "ui", "store", "login"],
    ...["sessions", "sign_in", "gate", "openid", "pages", "hono", "demo"],
  ],
};

/**
 * Modules that may import a higher layer: the page's script imports the demo.
 */
const MAY_IMPORT_UP = new Set(["web/ui/page.tsx"]);

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    /** Absent for type-only imports. */
    readonly code?: unknown;
  }[];
}

async function modulesOf(pkg: string): Promise<readonly Module[]> {
  const entries = [
    ...ENTRIES.filter(({ name }) => name === pkg).map(({ file }) => file),
    ...[`${pkg}/main.ts`, `${pkg}/ui/page.tsx`],
  ].map((file) => new URL(file, ROOT));
  const modules: Module[] = [];
  for (const entry of entries) {
    const exists = await Deno.stat(entry).then(() => true, () => false);
    if (!exists) continue;
    const args = ["info", "--json", entry.href];
    const text = await runProgram(Deno.execPath(), args);
    modules.push(...JSON.parse(text).modules);
  }
  return modules;
}

/**
 * Returns the package of a specifier as in ALLOWED; undefined for relative
 * paths.
 */
function target(specifier: string): string | undefined {
  const member = /^@sig\/([a-z]+)/.exec(specifier)?.[1];
  if (member !== undefined) return member;
  if (specifier.startsWith("@std/")) {
    return `jsr:${specifier.split("/").slice(0, 2).join("/")}`;
  }
  if (/^\.{1,2}\//.test(specifier)) return undefined;
  return specifier.includes(":") ? specifier : `npm:${specifier.split("/")[0]}`;
}

/**
 * Returns the layer of a file in its package, from 0; undefined for an unknown
 * folder.
 */
function layerOf(pkg: string, file: string): number | undefined {
  const folders = LAYERS[pkg] ?? [];
  const [folder, ...rest] = file.slice(pkg.length + 1).split("/");
  if (folder === undefined || rest.length === 0) return folders.length;
  const layer = folders.indexOf(folder);
  return layer < 0 ? undefined : layer;
}

/** The imports of each file within its package, as paths from the root. */
const imports = new Map<string, Set<string>>();

function noteImport(pkg: string, from: string, to: string): void {
  const known = imports.get(from) ?? new Set();
  imports.set(from, known.add(to));
  const [above, below] = [layerOf(pkg, from), layerOf(pkg, to)];
  if (above === undefined || below === undefined) {
    faults.push(`${from} or ${to} is in a folder that LAYERS does not list`);
  } else if (below > above && !MAY_IMPORT_UP.has(from)) {
    faults.push(`${from} must not import ${to}, which is in a higher layer`);
  }
}

/** Returns an import cycle that contains a file, if there is one. */
function findCycle(start: string): readonly string[] | undefined {
  const seen = new Set<string>();
  const walk = (
    file: string,
    path: readonly string[],
  ): readonly string[] | undefined => {
    for (const next of imports.get(file) ?? []) {
      if (next === start) return [...path, file, start];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...path, file]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return walk(start, []);
}

const faults: string[] = [];
for (const [pkg, allowed] of Object.entries(ALLOWED)) {
  const base = new URL(`${pkg}/`, ROOT).href;
  for (const module of await modulesOf(pkg)) {
    if (!module.specifier.startsWith(base)) continue;
    const file = module.specifier.slice(ROOT.href.length);
    for (const { specifier, code } of module.dependencies ?? []) {
      if (code === undefined && specifier.startsWith("node:")) continue;
      const name = target(specifier);
      if (name === undefined) {
        const resolved = new URL(specifier, module.specifier).href;
        if (resolved.startsWith(base)) {
          const to = resolved.slice(ROOT.href.length);
          if (to !== file) noteImport(pkg, file, to);
        } else {
          faults.push(
            `${file} imports a file outside of its package: ${specifier}`,
          );
        }
      } else if (
        name === "jsr:@std/assert" && !/(_contract|\/testing)\.ts$/.test(file)
      ) {
        faults.push(`${file} must not import ${specifier}: it is for tests`);
      } else if (!allowed.includes(name)) {
        faults.push(`${file} must not import ${specifier}`);
      }
    }
  }
}
for (const file of imports.keys()) {
  const cycle = findCycle(file);
  // Each cycle is reported once, for its first file.
  if (cycle === undefined || cycle.some((each) => each < file)) continue;
  faults.push(`${cycle.join(" → ")} is an import cycle`);
}
for (const fault of new Set(faults)) console.error(fault);
if (faults.length > 0) Deno.exit(1);
console.log("dependencies point one way");
