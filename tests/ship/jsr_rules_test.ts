import { assertEquals, assertStringIncludes } from "@std/assert";
import { refusalOf } from "./testdata/jsr_rules.ts";
import { run, tempFolder } from "../kit/process.ts";

/** The least that is taken. */
const GOOD: Readonly<Record<string, string>> = {
  "deno.json": `{"name":"@a/pkg","version":"1.0.0","exports":"./mod.ts"}`,
  "LICENSE": "MIT",
  "mod.ts":
    `import data from "./data.json" with { type: "json" };\nimport "npm:hono@^4";\nimport "jsr:@std/encoding@^1/hex";\nimport "node:fs";\nexport default data;\n`,
  "data.json": "1",
};

/** What is added to it, and the code that JSR answers with. */
const REFUSED: readonly (readonly [
  what: string,
  files: Readonly<Record<string, string>>,
  code: string,
  message: string,
])[] = [
  [
    "a text import",
    { "mod.ts": `import "./a.txt" with { type: "text" };`, "a.txt": "a" },
    "graphError",
    'The import attribute type of "text" is unsupported',
  ],
  [
    "a bytes import behind another module",
    {
      "mod.ts": `export * from "./b.ts";`,
      "b.ts":
        `import b from "./a.txt" with { type: "bytes" };\nconsole.log(b);`,
      "a.txt": "a",
    },
    "graphError",
    'The import attribute type of "bytes" is unsupported',
  ],
  [
    "a text import at run time",
    {
      "mod.ts": `await import("./a.txt", { with: { type: "text" } });`,
      "a.txt": "a",
    },
    "graphError",
    "is unsupported",
  ],
  [
    "an https: import",
    { "mod.ts": `import "https://deno.land/x/a/mod.ts";` },
    "invalidExternalImport",
    "https://deno.land",
  ],
  [
    "an npm: import without a version",
    {
      "mod.ts": `import "npm:hono";`,
    },
    "missingConstraint",
    "npm:hono",
  ],
  [
    "a jsr: import without a version",
    {
      "mod.ts": `import "jsr:@std/encoding/hex";`,
    },
    "missingConstraint",
    "jsr:@std/encoding/hex",
  ],
  [
    "an npm: import of any version",
    {
      "mod.ts": `import "npm:hono@*/x";`,
    },
    "missingConstraint",
    "npm:hono@*/x",
  ],
  [
    "a name of an import map",
    {
      "mod.ts": `import "@std/encoding";`,
    },
    "graphError",
    "@std/encoding",
  ],
  [
    "a module that is not there",
    {
      "mod.ts": `import "./b.ts";`,
    },
    "graphError",
    "Module not found",
  ],
  [
    "an import from outside of the package",
    { "mod.ts": `import "../other/mod.ts";` },
    "graphError",
    "Module not found",
  ],
  [
    "CommonJS",
    {
      "mod.ts": `import "./b.cts";`,
      "b.cts": "",
    },
    "commonJs",
    "b.cts",
  ],
  [
    "global types",
    {
      "mod.ts": `declare global {\n  interface A {}\n}\nexport {};`,
    },
    "globalTypeAugmentation",
    "declare global",
  ],
  [
    "a library of types",
    {
      "mod.ts": `/// <reference lib="dom" />\nexport {};`,
    },
    "bannedTripleSlashDirectives",
    "dom",
  ],
  [
    "paths that differ in case only",
    {
      "a.txt": "",
      "A.txt": "",
    },
    "caseInsensitiveDuplicatePath",
    "/A.txt and /a.txt",
  ],
  ["a path with a space", { "a b.txt": "" }, "invalidPath", "a character"],
  [
    "a name that Windows keeps",
    {
      "x/con.ts": "",
    },
    "invalidPath",
    "reserved name",
  ],
  ["JSR's own folder", { "_dist/a.js": "" }, "invalidPath", "_dist"],
  [
    "a long name",
    {
      [`${"a".repeat(93)}.ts`]: "",
    },
    "invalidPath",
    "too long",
  ],
  [
    "more than 20 MB",
    {
      "a.bin": "a".repeat(11 << 20),
      "b.bin": "a".repeat(11 << 20),
    },
    "packageTooLarge",
    "bin",
  ],
  [
    "another name",
    {
      "deno.json": GOOD["deno.json"]!.replace("pkg", "other"),
    },
    "configFileNameMismatch",
    "@a/other",
  ],
  [
    "another version",
    {
      "deno.json": GOOD["deno.json"]!.replace("1.0.0", "1.0.1"),
    },
    "configFileVersionMismatch",
    "1.0.1",
  ],
  [
    "an export that is not there",
    {
      "deno.json": GOOD["deno.json"]!.replace("mod", "nothing"),
    },
    "configFileExportsInvalid",
    "./nothing.ts",
  ],
];

async function judge(files: Readonly<Record<string, string>>) {
  await using folder = await tempFolder();
  for (const [name, text] of Object.entries(files)) {
    const path = `${folder.path}/${name}`;
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  return await refusalOf(folder.path, "@a/pkg", "1.0.0");
}

Deno.test("the registry of these tests takes a good package", async () => {
  assertEquals(await judge(GOOD), undefined);
});

Deno.test("the registry of these tests wants a licence", async () => {
  const { LICENSE: _, ...rest } = GOOD;
  assertEquals((await judge(rest))?.code, "missingLicense");
});

for (const [what, files, code, message] of REFUSED) {
  Deno.test(`the registry of these tests refuses ${what}, as JSR does`, async () => {
    const refusal = await judge({ ...GOOD, ...files });
    assertEquals(refusal?.code, code, refusal?.message);
    assertStringIncludes(refusal!.message, message);
  });
}

/** What `deno publish` refuses before it sends anything, and its code. */
const REFUSED_BEFORE: readonly (readonly [
  what: string,
  files: Readonly<Record<string, string>>,
  code: string,
])[] = [
  [
    "slow types",
    { "mod.ts": "export const f = () => new Date();\n" },
    "missing-explicit-return-type",
  ],
  [
    "an import of an excluded file",
    {
      "deno.json": GOOD["deno.json"]!.replace(
        "}",
        `,"publish":{"exclude":["b.ts"]}}`,
      ),
      "mod.ts": `import "./b.ts";\n`,
      "b.ts": "",
    },
    "excluded-module",
  ],
];

for (const [what, files, code] of REFUSED_BEFORE) {
  Deno.test(`deno publish sends no package with ${what}`, async () => {
    await using folder = await tempFolder();
    for (const [name, text] of Object.entries({ ...GOOD, ...files })) {
      await Deno.writeTextFile(`${folder.path}/${name}`, text);
    }
    const args = ["publish", "--dry-run", "--allow-dirty", "--no-check"];
    const ran = await run(Deno.execPath(), args, { cwd: folder.path });
    assertEquals(ran.code, 1);
    assertStringIncludes(ran.stderr, code);
  });
}
