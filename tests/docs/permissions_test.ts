import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** The documents for users; CONTRIBUTING.md and bench/ are for developers. */
const FOLDERS = [
  ...["", "docs/", "docs/reference/", "examples/", "examples/ci-gate/"],
  ...["core/", "jose/", "issuer/", "consumer/", "cli/", "api/", "web/"],
];

async function readDocuments(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const folder of FOLDERS) {
    for await (const { name } of Deno.readDir(new URL(folder, ROOT))) {
      const path = folder + name;
      if (!/\.(?:md|sh)$|\bmod\.ts$/.test(name)) continue;
      if (path === "CONTRIBUTING.md") continue;
      found.set(path, await Deno.readTextFile(new URL(path, ROOT)));
    }
  }
  return found;
}

Deno.test("no document for users runs a program with all permissions", async () => {
  const documents = await readDocuments();
  assert(documents.size > 20);
  for (const [path, text] of documents) {
    const asked = /^.*\bdeno\b[^\n]*\s(?:-A|--allow-all|-[a-z]*A)\s.*$/m.exec(
      text,
    );
    assertEquals(asked?.[0], undefined, path);
  }
});
