/**
 * Proves the direction of the dependencies: every package imports only what
 * stands before it, and core imports nothing. Run by `deno task check:deps`.
 *
 * @module
 */

/** What each package may import: workspace members, then what comes from elsewhere. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  core: [],
  jose: ["core", "npm:jose", "jsr:@std/encoding"],
  issuer: ["core", "jose", "jsr:@std/ulid"],
  consumer: ["core", "jose", "jsr:@std/encoding"],
  cli: [
    ...["core", "jose", "issuer", "consumer", "api", "web"],
    ...["jsr:@std/csv", "jsr:@std/http", "jsr:@std/yaml"],
  ],
  api: [
    ...["core", "jose", "consumer"],
    ...["npm:hono", "jsr:@std/cli", "jsr:@std/http"],
  ],
  web: [
    ...["core", "jose", "issuer", "consumer", "api"],
    ...["npm:@redis", "jsr:@std/encoding", "jsr:@std/http"],
  ],
};

const ROOT = new URL("..", import.meta.url);

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly specifier: string;
    /** Absent for an import of types only. */
    readonly code?: unknown;
  }[];
}

async function modulesOf(pkg: string): Promise<readonly Module[]> {
  const entries = ["mod.ts", "main.ts", "serve.ts"].map((name) =>
    new URL(`${pkg}/${name}`, ROOT)
  );
  const modules: Module[] = [];
  for (const entry of entries) {
    const exists = await Deno.stat(entry).then(() => true, () => false);
    if (!exists) continue;
    const { stdout, success } = await new Deno.Command(Deno.execPath(), {
      args: ["info", "--json", entry.href],
      stderr: "inherit",
    }).output();
    if (!success) throw new Error(`Cannot read the graph of ${pkg}`);
    modules.push(...JSON.parse(new TextDecoder().decode(stdout)).modules);
  }
  return modules;
}

/** What a specifier names, as ALLOWED spells it; undefined inside a package. */
function target(specifier: string): string | undefined {
  const member = /^@sig\/([a-z]+)/.exec(specifier)?.[1];
  if (member !== undefined) return member;
  if (specifier.startsWith("@std/")) {
    return `jsr:${specifier.split("/").slice(0, 2).join("/")}`;
  }
  if (/^\.{1,2}\//.test(specifier)) return undefined;
  return specifier.includes(":") ? specifier : `npm:${specifier.split("/")[0]}`;
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
        if (resolved.startsWith(base)) continue;
        faults.push(`${file} reaches out of its package: ${specifier}`);
      } else if (!allowed.includes(name)) {
        faults.push(`${file} must not import ${specifier}`);
      }
    }
  }
}
for (const fault of new Set(faults)) console.error(fault);
if (faults.length > 0) Deno.exit(1);
console.log("dependencies point one way");
