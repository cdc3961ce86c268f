import { assert, assertEquals } from "@std/assert";
import { filesBelow } from "./ship/testdata/files_below.ts";
import { PACKAGES } from "../tools/workspace.ts";

const ROOT = new URL("..", import.meta.url).pathname;

/** Patterns of code that takes messages apart. */
const CUTS = [
  /\b(?:error|fault|cause|first)\.message\s*\.\s*(?:replace|slice|split|indexOf)/,
  /\bmessage\s*\.\s*(?:replace|split|indexOf)\(\s*["'`/](?:\^?Cannot|: )/,
];

/** Yields the sources of the packages without their tests. */
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

Deno.test("no code takes a message apart, because an error has a reason", async () => {
  const found: string[] = [];
  let files = 0;
  for await (const { path, text } of sources()) {
    files++;
    if (CUTS.some((cut) => cut.test(text))) found.push(path);
  }
  assert(files > 200, `only ${files} files`);
  assertEquals(found, []);
});

/** A JsonError's message does not begin with "Cannot". */
const OF_JSON_ERRORS = /JsonError/;

Deno.test("no whole message is put into another one that begins with 'Cannot'", async () => {
  const found: string[] = [];
  for await (const { path, text } of sources()) {
    for (const { index } of text.matchAll(/`Cannot [^`]*\$\{\w+\.message\}/g)) {
      const above = text.slice(Math.max(0, index - 400), index);
      if (!OF_JSON_ERRORS.test(above)) found.push(path);
    }
  }
  assertEquals(found, []);
});

Deno.test("no expected message in vectors, examples or documents says Cannot twice", async () => {
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
