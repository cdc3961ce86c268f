import { assert, assertEquals } from "@std/assert";
import { readBlocks } from "../docs/read_blocks.ts";
import { readFeedVectors } from "./vectors.ts";

const ROOT = new URL("../../", import.meta.url);

async function hasPython(): Promise<boolean> {
  try {
    const command = new Deno.Command("python3", { args: ["--version"] });
    return (await command.output()).success;
  } catch {
    return false;
  }
}

/** What the reader in the document has of each case, with the bytes' sums. */
const ALSO = `
        import hashlib
        for path in sorted(files):
            print("", path, hashlib.sha256(files[path]).hexdigest())
`;

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

Deno.test({
  name: "the reader in the vectors' README finds the same bytes",
  // CI brings no Python of its own.
  ignore: !await hasPython(),
  fn: async () => {
    const text = await Deno.readTextFile(new URL("vectors/README.md", ROOT));
    const program = readBlocks(text).find(({ language }) =>
      language === "python"
    );
    assert(program);
    const { stdout, stderr } = await new Deno.Command("python3", {
      args: ["-c", program.text + ALSO],
      cwd: ROOT,
      env: { PYTHONIOENCODING: "utf-8" },
    }).output();
    const found = new TextDecoder().decode(stdout).split(/\n(?! )/)
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
    assertEquals(
      found.sort(),
      expected.sort(),
      new TextDecoder().decode(stderr),
    );
  },
});
