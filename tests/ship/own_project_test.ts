import { assert, assertEquals } from "@std/assert";
import { packLibraries } from "../../tools/pack.ts";
import { readBlocks } from "../docs/read_blocks.ts";
import {
  freePort,
  isCi,
  ROOT,
  run,
  runWell,
  tempFolder,
  TestProcess,
} from "../kit/process.ts";
import { retry } from "../kit/wait.ts";

const PAGE = new URL("../../docs/node.md", import.meta.url);
const blocks = readBlocks(await Deno.readTextFile(PAGE));

function block(language: string): string {
  return blocks.find((each) => each.language === language)!.text;
}

/** Whether npm can be used here. */
async function hasNpm(): Promise<boolean> {
  try {
    return (await run("npm", ["view", "esbuild", "version"])).code === 0;
  } catch {
    return false;
  }
}

const ASK = 'import program from "./worker.mjs";\n' +
  "console.log(await (await program.fetch()).text());\n";

Deno.test("a Deno project links the checkout as the document says", async () => {
  await using folder = await tempFolder();
  const at = { cwd: folder.path };
  const root = ROOT.pathname.replace(/\/$/, "");
  const config = JSON.parse(block("json").replaceAll("../sig", root));
  // Where JSR can't be reached, its packages are linked too.
  for (const name of ["assert", "csv", "encoding", "ulid"]) {
    config.links.push(`${root}/links/std-${name}`);
  }
  const write = (name: string, text: string) =>
    Deno.writeTextFile(`${folder.path}/${name}`, text);
  await write("deno.json", JSON.stringify(config));
  await write("worker.mjs", block("js"));
  await write("try.ts", ASK);
  const printed = await runWell(Deno.execPath(), ["run", "try.ts"], at);
  assertEquals(printed, "allow\n");
});

Deno.test({
  name:
    "the program of the document runs in Bun, bundled in Node, and in workerd",
  ignore: !isCi && !await hasNpm(),
  fn: async (t) => {
    await using packed = await tempFolder();
    await using folder = await tempFolder();
    const at = { cwd: folder.path };
    const bin = `${folder.path}/node_modules/.bin`;
    const write = (name: string, text: string) =>
      Deno.writeTextFile(`${folder.path}/${name}`, text);
    await write("package.json", '{"type":"module"}');
    await runWell("npm", [
      ...["install", "--no-audit", "--no-fund"],
      ...["esbuild@0.28.2", "bun@1.4.5", "workerd@1"],
      ...await packLibraries(packed.path),
    ], at);
    await write("worker.mjs", block("js"));
    await write("try.mjs", ASK);
    await t.step("Bun", async () => {
      assertEquals(await runWell(`${bin}/bun`, ["try.mjs"], at), "allow\n");
    });
    const [, command = ""] = /^(esbuild .+)$/m.exec(
      blocks.find(({ text }) => text.startsWith("esbuild"))!.text,
    )!;
    await runWell(`${bin}/esbuild`, command.split(" ").slice(1), at);
    await t.step("Node, bundled", async () => {
      await write("try.mjs", ASK.replace("worker.mjs", "out.js"));
      const node = ["-y", "node@22", "try.mjs"];
      assertEquals(await runWell("npx", node, at), "allow\n");
    });
    await t.step("workerd", async () => {
      const port = freePort();
      await write(
        "config.capnp",
        `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "out.js", esModule = embed "out.js")],
    compatibilityDate = "2026-01-01",
    compatibilityFlags = ["nodejs_compat"]))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`,
      );
      await using workerd = new TestProcess(
        `${bin}/workerd`,
        ["serve", "config.capnp"],
        at,
      );
      await workerd.listens(port);
      const response = await retry(() => fetch(`http://127.0.0.1:${port}/`));
      assertEquals(await response.text(), "allow");
      assert(response.ok);
    });
  },
});
