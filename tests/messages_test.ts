import { assert, assertEquals } from "@std/assert";
import { ownFiles, PACKAGES, ROOT } from "../tools/workspace.ts";

const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));

/** Patterns of code that takes messages apart. */
const CUTS = [
  /\b(?:error|fault|cause|first)\.message\s*\.\s*(?:replace|slice|split|indexOf)/,
  /\bmessage\s*\.\s*(?:replace|split|indexOf)\(\s*["'`/](?:\^?Cannot|: )/,
];

/** Yields the sources of the packages without their tests. */
function* sources(): Generator<{ path: string; text: string }> {
  for (const path of PACKAGES.flatMap((name) => [...ownFiles(`${name}/`)])) {
    if (!path.endsWith(".ts") || /_test\b|testdata/.test(path)) continue;
    yield { path, text: read(path) };
  }
}

Deno.test("no code takes a message apart, because an error has a reason", () => {
  const found: string[] = [];
  let files = 0;
  for (const { path, text } of sources()) {
    files++;
    if (CUTS.some((cut) => cut.test(text))) found.push(path);
  }
  assert(files > 200, `only ${files} files`);
  assertEquals(found, []);
});

/** A JsonError's message does not begin with "Cannot". */
const OF_JSON_ERRORS = /JsonError/;

Deno.test("no whole message is put into another one that begins with 'Cannot'", () => {
  const found: string[] = [];
  for (const { path, text } of sources()) {
    for (const { index } of text.matchAll(/`Cannot [^`]*\$\{\w+\.message\}/g)) {
      const above = text.slice(Math.max(0, index - 400), index);
      if (!OF_JSON_ERRORS.test(above)) found.push(path);
    }
  }
  assertEquals(found, []);
});

Deno.test("no expected message in vectors, examples or documents says Cannot twice", () => {
  const found: string[] = [];
  for (const folder of ["vectors", "examples", "docs"]) {
    for (const path of ownFiles(`${folder}/`)) {
      if (!/\.(?:jsonl?|md|txt)$/.test(path)) continue;
      if (/Cannot [^"\n.]*Cannot /.test(read(path))) found.push(path);
    }
  }
  assertEquals(found, []);
});
