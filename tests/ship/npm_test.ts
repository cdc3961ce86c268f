import { assertEquals } from "@std/assert";
import { packLibraries } from "../../tools/pack.ts";
import { readBlocks } from "../docs/read_blocks.ts";
import { isCi, run, runWell, tempFolder } from "../kit/process.ts";

const PAGE = new URL("../../docs/node.md", import.meta.url);

/** Whether npm can get Node 22 here. */
async function hasNode(): Promise<boolean> {
  try {
    return (await run("npx", ["-y", "node@22", "--version"])).code === 0;
  } catch {
    return false;
  }
}

Deno.test({
  name:
    "npm installs the packed libraries, and Node 22 runs the program of the document",
  ignore: !isCi && !await hasNode(),
  fn: async () => {
    await using packed = await tempFolder();
    await using folder = await tempFolder();
    const names = new Set<string>();
    for (const path of await packLibraries(packed.path)) {
      const args = ["-xOzf", path, "package/package.json"];
      const { dependencies } = JSON.parse(await runWell("tar", args));
      for (const name of Object.keys(dependencies)) names.add(name);
    }
    assertEquals(
      [...names].sort(),
      ["@redis/client", "@sig/core", "@sig/jose", "jose"],
    );
    const blocks = readBlocks(await Deno.readTextFile(PAGE));
    const commands = blocks.find(({ language }) => language === "sh")!.text
      .replace("npx -y deno@2.9.6 task pack\n", "")
      .replace('ROOT=$PWD && cd "$(mktemp -d)"\n', "")
      .replace('"$ROOT"/dist/npm', packed.path);
    const printed = await runWell("bash", ["-ec", commands], {
      cwd: folder.path,
    });
    const expected = blocks.find(({ language }) => language === "text")!.text;
    assertEquals(printed.trimEnd(), expected.trimEnd());
  },
});
