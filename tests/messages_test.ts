import { assert, assertEquals } from "@std/assert";
import { filesBelow } from "./ship/testdata/files_below.ts";
import { PACKAGES } from "../tools/workspace.ts";

const ROOT = new URL("..", import.meta.url).pathname;

/** How a message would be taken apart again. */
const CUTS = [
  /\b(?:error|fault|cause|first)\.message\s*\.\s*(?:replace|slice|split|indexOf)/,
  /\bmessage\s*\.\s*(?:replace|split|indexOf)\(\s*["'`/](?:\^?Cannot|: )/,
];

/** The sources of the packages without their tests. */
async function* sources(): AsyncGenerator<{ path: string; text: string }> {
  for (const folder of PACKAGES) {
    for await (const path of filesBelow(ROOT, folder)) {
      if (!path.endsWith(".ts") || /_test\b|testdata|node_modules/.test(path)) {
        continue;
      }
      yield { path, text: await Deno.readTextFile(ROOT + path) };
    }
  }
}

Deno.test("nobody takes a message apart: an error has its reason", async () => {
  const found: string[] = [];
  let files = 0;
  for await (const { path, text } of sources()) {
    files++;
    if (CUTS.some((cut) => cut.test(text))) found.push(path);
  }
  assert(files > 200, `only ${files} files`);
  assertEquals(found, []);
});

/** JsonErrors have no beginning of their own. */
const OF_JSON_ERRORS = /JsonError/;

Deno.test("no sentence is put behind another 'Cannot'", async () => {
  const found: string[] = [];
  for await (const { path, text } of sources()) {
    for (const { index } of text.matchAll(/`Cannot [^`]*\$\{\w+\.message\}/g)) {
      const above = text.slice(Math.max(0, index - 400), index);
      if (!OF_JSON_ERRORS.test(above)) found.push(path);
    }
  }
  assertEquals(found, []);
});

Deno.test("no expected message of the vectors or examples says Cannot twice", async () => {
  const found: string[] = [];
  for (const folder of ["vectors", "examples", "docs"]) {
    for await (const path of filesBelow(ROOT, folder)) {
      if (!/\.(?:jsonl?|md|txt)$/.test(path)) continue;
      const text = await Deno.readTextFile(ROOT + path);
      if (/Cannot [^"\n.]*Cannot /.test(text)) found.push(path);
    }
  }
  assertEquals(found, []);
});
