import { assert, assertEquals } from "@std/assert";
import { bundle } from "../../tools/bundle.ts";
import { tempFolder } from "../kit/process.ts";

/** The maximum size of a bundle that uses one export, minified, in bytes. */
const SIZES = { is_sig_error: 2_000, check: 20_000 };

const entryOf = (name: string) => `tests/ship/testdata/sizes/${name}.ts`;

for (const [name, maxBytes] of Object.entries(SIZES)) {
  Deno.test(`a bundle with ${name} alone has at most ${maxBytes} bytes`, async () => {
    const { length } = await bundle(entryOf(name), "--minify");
    assert(length <= maxBytes, `${length} bytes`);
  });
}

/** Static imports and exports of a minified module; not `import("…")`. */
const IMPORTED = /(?:\bfrom|\bimport)\s*"\.\/([^"]+)"/g;

/** Returns the total size of a module with all that it imports statically. */
async function sizeOf(folder: string, entry: string): Promise<number> {
  const files = new Set([entry]);
  let bytes = 0;
  for (const file of files) {
    const code = await Deno.readTextFile(`${folder}/${file}`);
    bytes += new TextEncoder().encode(code).length;
    for (const [, imported = ""] of code.matchAll(IMPORTED)) {
      files.add(imported);
    }
  }
  return bytes;
}

Deno.test("a program with checkIssuer alone loads at most 110,000 bytes for an issuer without proofs", async () => {
  await using folder = await tempFolder();
  const split = ["--minify", "--code-splitting", `--outdir=${folder.path}`];
  await bundle(entryOf("check_issuer"), ...split);
  const names = Array.from(Deno.readDirSync(folder.path), ({ name }) => name);
  // What only proofs, statements and files need is in other modules.
  assertEquals(names.some((name) => name.startsWith("read_by_proof-")), true);
  const bytes = await sizeOf(folder.path, "check_issuer.js");
  assert(bytes > 50_000 && bytes <= 110_000, `${bytes} bytes`);
});
