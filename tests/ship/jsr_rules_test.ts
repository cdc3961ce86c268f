/** Tests that the test registry refuses packages as JSR does. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { refusalOf } from "./testdata/jsr_registry.ts";
import { tempFolder } from "../kit/process.ts";

type Files = Readonly<Record<string, string>>;

/** A valid package. */
const GOOD: Files = {
  "deno.json": `{"name":"@a/pkg","version":"1.0.0","exports":"./mod.ts"}`,
  "LICENSE": "MIT",
  "mod.ts":
    `import data from "./data.json" with { type: "json" };\nimport "node:fs";\nexport default data;\n`,
  "data.json": "1",
};

async function withPackage(
  files: Files,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  await using folder = await tempFolder();
  for (const [name, text] of Object.entries({ ...GOOD, ...files })) {
    const path = `${folder.path}/${name}`;
    await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
  await work(folder.path);
}

/** The change to the package, and the registry's error, if any. */
const SENT: readonly (readonly [string, Files, string?, string?])[] = [
  ["a good package", {}],
  [
    "a text import",
    { "mod.ts": `import "./a.txt" with { type: "text" };`, "a.txt": "a" },
    ...["graphError", 'type of "text" is unsupported'] as const,
  ],
  [
    "a bytes import behind another module",
    {
      "mod.ts": `export * from "./b.ts";`,
      "b.ts": `export { default } from "./a.txt" with { type: "bytes" };`,
      "a.txt": "a",
    },
    ...["graphError", 'type of "bytes" is unsupported'] as const,
  ],
  [
    "a text import at run time",
    {
      "mod.ts": `await import("./a.txt", { with: { type: "text" } });`,
      "a.txt": "a",
    },
    ...["graphError", 'type of "text" is unsupported'] as const,
  ],
  [
    "more than 20 MB",
    { "a.bin": "a".repeat(11 << 20), "b.bin": "a".repeat(11 << 20) },
    ...["packageTooLarge", "2306"] as const,
  ],
];

for (const [what, files, code, message = ""] of SENT) {
  Deno.test(`the test registry ${code ? "refuses" : "accepts"} ${what}, as JSR does`, () =>
    withPackage(files, async (folder) => {
      const refusal = await refusalOf(folder);
      assertEquals(refusal?.code, code);
      assertStringIncludes(refusal?.message ?? "", message);
    }));
}
