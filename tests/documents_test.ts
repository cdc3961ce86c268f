import { assertEquals, assertStringIncludes } from "@std/assert";
import { PACKAGES, VERSION } from "../tools/workspace.ts";

const ROOT = new URL("..", import.meta.url);

async function read(path: string): Promise<string> {
  return await Deno.readTextFile(new URL(path, ROOT));
}

/** The packages whose VERSION is not in their top folder. */
const VERSION_FILE: { readonly [name: string]: string } = {
  api: "api/openapi/operation.ts",
  cli: "cli/terminal/version.ts",
};

Deno.test("the README contains both commands verbatim", async () => {
  const readme = await read("README.md");
  assertStringIncludes(readme, "npx -y deno@2.9.6 task --quiet demo\n");
  assertStringIncludes(readme, "npx -y deno@2.9.6 task test\n");
});

Deno.test("every package has a README, the licence and the common version", async () => {
  const licence = await read("LICENSE");
  for (const name of PACKAGES) {
    assertStringIncludes(await read(`${name}/README.md`), `# @sig/${name}`);
    assertEquals(await read(`${name}/LICENSE`), licence);
    const config = JSON.parse(await read(`${name}/deno.json`));
    assertEquals([config.name, config.version, config.license], [
      `@sig/${name}`,
      VERSION,
      "MIT",
    ]);
  }
});

Deno.test("a package's VERSION equals that of its deno.json", async () => {
  for (const name of ["cli", "api", "web"]) {
    const { VERSION } = await import(
      new URL(VERSION_FILE[name] ?? `${name}/version.ts`, ROOT).href
    );
    assertEquals(VERSION, JSON.parse(await read(`${name}/deno.json`)).version);
  }
});

Deno.test("the root has no package.json, which would break Deno's npm", async () => {
  const found = await Deno.stat(new URL("package.json", ROOT))
    .then(() => true, () => false);
  assertEquals(found, false);
});

Deno.test("documents in the root name only existing files", async () => {
  for (const name of ["SECURITY.md", "DESIGN.md", "CONTRIBUTING.md"]) {
    const text = await read(name);
    const paths = text.matchAll(/`([a-z_]+\/[\w/.-]+\.(?:ts|js|md|json))`/g);
    for (const [, path] of paths) {
      const found = await Deno.stat(new URL(path!, ROOT))
        .then(() => true, () => false);
      assertEquals(found, true, `${name} names ${path}`);
    }
  }
});

Deno.test("the steps in DESIGN.md name existing functions and files", async () => {
  const text = await read("DESIGN.md");
  const steps = [...text.matchAll(/^\d+\. `([^`]+\.ts)`: `(\w+)`/gm)];
  assertEquals(steps.length >= 20, true);
  for (const [, path, name] of steps) {
    const code = await read(path!);
    const isThere = new RegExp(`\\b${name}\\b`).test(code);
    assertEquals(isThere, true, `${path} has no ${name}`);
  }
});
