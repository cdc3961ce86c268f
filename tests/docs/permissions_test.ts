import { assert, assertEquals } from "@std/assert";
import { EXECUTABLES } from "../../tools/compile.ts";

const ROOT = new URL("../../", import.meta.url);

/** What users read; CONTRIBUTING.md and bench/ are for developers. */
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

Deno.test("no document for users runs anything with all permissions", async () => {
  const documents = await readDocuments();
  assert(documents.size > 20);
  for (const [path, text] of documents) {
    const asked = /^.*\bdeno\b[^\n]*\s(?:-A|--allow-all|-[a-z]*A)\s.*$/m.exec(
      text,
    );
    assertEquals(asked?.[0], undefined, path);
  }
});

Deno.test("sig of the documents has the permissions of the executable, and no more", async () => {
  const documents = await readDocuments();
  const { permissions } = EXECUTABLES.find(({ name }) => name === "sig")!;
  const shim = await Deno.readTextFile(new URL("shims/sig", import.meta.url));
  for (
    const [path, text] of [
      ["README.md", documents.get("README.md")!],
      ["docs/README.md", documents.get("docs/README.md")!],
      ["shims/sig", shim],
    ] as const
  ) {
    const [command] =
      /deno(?:@[\d.]+)? run (?:[^\n]*\\\n)*[^\n]*cli\/main\.ts/.exec(text) ??
        [];
    const given = command?.match(/--allow-\S+/g);
    assertEquals(given, [...permissions], path);
  }
});
