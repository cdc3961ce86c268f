import { assert, assertEquals } from "@std/assert";
import { readBlocks } from "../docs/read_blocks.ts";
import { sha256 } from "../../tools/workspace.ts";
import { hasProgram, ROOT, runWell } from "./process.ts";
import { readFeedVectors } from "./vectors.ts";

/**
 * Code that prints the SHA-256 of each file that the document's reader has
 * read.
 */
const PRINT_DIGESTS = `
        import hashlib
        for path in sorted(files):
            print("", path, hashlib.sha256(files[path]).hexdigest())
`;

Deno.test({
  name: "the reader in the vectors' README reads the same bytes",
  // CI does not install Python.
  ignore: !hasProgram("python3"),
  fn: async () => {
    const text = await Deno.readTextFile(new URL("vectors/README.md", ROOT));
    const program = readBlocks(text).find(({ language }) =>
      language === "python"
    );
    assert(program);
    const args = ["-c", program.text + PRINT_DIGESTS];
    const env = { PYTHONIOENCODING: "utf-8" };
    const found = (await runWell("python3", args, { cwd: ROOT, env }))
      .split(/\n(?! )/)
      .filter((each) => each !== "").map((each) => each.trimEnd());
    const expected = await Promise.all(
      readFeedVectors().map(async ({ name, expected, documents }) => {
        const files = [...documents].sort(([a], [b]) => a < b ? -1 : 1);
        const sums = files.map(async ([path, bytes]) =>
          `\n ${path} ${await sha256(bytes)}`
        );
        const head = `${name} ${expected.now} ${documents.size}`;
        return head + (await Promise.all(sums)).join("");
      }),
    );
    assertEquals(found.sort(), expected.sort());
  },
});
