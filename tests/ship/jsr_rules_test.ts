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

/** What is added to it: the text of `mod.ts`, or files. */
type Added = string | Readonly<Record<string, string>>;

/** What is added, and the code that JSR answers with. */
const REFUSED: readonly (readonly [
  what: string,
  added: Added,
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
      "b.ts": `export { default } from "./a.txt" with { type: "bytes" };`,
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
  ...([
    ["https:", "https://deno.land/x/a/mod.ts", "invalidExternalImport"],
    ["npm: without a version", "npm:hono", "missingConstraint"],
    ["npm: with any version", "npm:hono@*/x", "missingConstraint"],
    ["jsr: without a version", "jsr:@std/encoding/hex", "missingConstraint"],
    ["an import map", "@std/encoding", "graphError"],
  ] as const).map(([what, name, code]) =>
    [`an import of ${what}`, `import "${name}";`, code, name] as const
  ),
  ...["./b.ts", "../other/mod.ts"].map((name) =>
    [
      `an import of ${name}, which is not in the package`,
      ...[`import "${name}";`, "graphError", "Module not found"] as const,
    ] as const
  ),
  [
    "CommonJS",
    { "mod.ts": `import "./b.cts";`, "b.cts": "" },
    ...["commonJs", "b.cts"] as const,
  ],
  [
    "global types",
    "declare global {\n  interface A {}\n}\nexport {};",
    ...["globalTypeAugmentation", "declare global"] as const,
  ],
  [
    "a library of types",
    `/// <reference lib="dom" />\nexport {};`,
    ...["bannedTripleSlashDirectives", "dom"] as const,
  ],
  [
    "paths that differ in case only",
    { "a.txt": "", "A.txt": "" },
    ...["caseInsensitiveDuplicatePath", "/A.txt and /a.txt"] as const,
  ],
  ...([
    ["a path with a space", "a b.txt", "a character"],
    ["a name that Windows keeps", "x/con.ts", "reserved name"],
    ["JSR's own folder", "_dist/a.js", "_dist"],
    ["a long name", `${"a".repeat(93)}.ts`, "too long"],
  ] as const).map(([what, name, message]) =>
    [what, { [name]: "" }, "invalidPath", message] as const
  ),
  [
    "more than 20 MB",
    { "a.bin": "a".repeat(11 << 20), "b.bin": "a".repeat(11 << 20) },
    ...["packageTooLarge", "bin"] as const,
  ],
  ...([
    ["name", "pkg", "other", "configFileNameMismatch", "@a/other"],
    ["version", "1.0.0", "1.0.1", "configFileVersionMismatch", "1.0.1"],
    ["export", "mod", "nothing", "configFileExportsInvalid", "./nothing.ts"],
  ] as const).map(([what, from, to, code, message]) =>
    [
      `another ${what}`,
      { "deno.json": GOOD["deno.json"]!.replace(from, to) },
      ...[code, message] as const,
    ] as const
  ),
];

async function withPackage<T>(
  files: Readonly<Record<string, string>>,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await using folder = await tempFolder();
  for (const [name, text] of Object.entries(files)) {
    const path = `${folder.path}/${name}`;
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  return await work(folder.path);
}

const judge = (files: Readonly<Record<string, string>>) =>
  withPackage(files, (folder) => refusalOf(folder, "@a/pkg", "1.0.0"));

Deno.test("the registry of these tests takes a good package", async () => {
  assertEquals(await judge(GOOD), undefined);
});

Deno.test("the registry of these tests wants a licence", async () => {
  const { LICENSE: _, ...rest } = GOOD;
  assertEquals((await judge(rest))?.code, "missingLicense");
});

for (const [what, added, code, message] of REFUSED) {
  Deno.test(`the registry of these tests refuses ${what}, as JSR does`, async () => {
    const files = typeof added === "string" ? { "mod.ts": added } : added;
    const refusal = await judge({ ...GOOD, ...files });
    assertEquals(refusal?.code, code, refusal?.message);
    assertStringIncludes(refusal!.message, message);
  });
}

/** What `deno publish` refuses before it sends anything, and its code. */
const NOT_SENT: readonly (readonly [
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
      "deno.json": GOOD["deno.json"]!
        .replace("}", `,"publish":{"exclude":["b.ts"]}}`),
      "mod.ts": `import "./b.ts";\n`,
      "b.ts": "",
    },
    "excluded-module",
  ],
];

for (const [what, files, code] of NOT_SENT) {
  Deno.test(`deno publish sends no package with ${what}`, () =>
    withPackage({ ...GOOD, ...files }, async (cwd) => {
      const args = ["publish", "--dry-run", "--allow-dirty", "--no-check"];
      const ran = await run(Deno.execPath(), args, { cwd });
      assertEquals(ran.code, 1);
      assertStringIncludes(ran.stderr, code);
    }));
}
