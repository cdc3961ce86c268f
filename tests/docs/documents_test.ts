/**
 * Every command in the documents is run, and what they show is compared. What
 * can't be run here says why, in an HTML comment before its fence.
 */

import { assert, assertEquals } from "@std/assert";
import { assertShown } from "./expected_output.ts";
import { missingPrograms } from "./programs.ts";
import { type Block, hasNo, readBlocks, reasonNotRun } from "./read_blocks.ts";
import { runDocument } from "./run_document.ts";
import { hasProgram } from "../kit/process.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * Blocks that are not run, by document. Adding one means to change a number
 * here, so that none is hidden silently.
 */
const NOT_RUN: { readonly [document: string]: number } = {
  "CONTRIBUTING.md": 3,
  "consumer/README.md": 1,
  "docs/deploy.md": 4,
  "docs/gate.md": 1,
  "docs/log-people-in.md": 1,
  "docs/node.md": 1,
  "docs/observe.md": 1,
  "docs/openid.md": 5,
  "docs/run-an-issuer.md": 1,
  "docs/ssh-and-git.md": 3,
  "web/README.md": 1,
};

/**
 * All but docs/reference, which is made from the programs' own tables; their
 * examples have tests beside them.
 */
async function findDocuments(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const folder of ["", "docs/"]) {
    for await (const { name, isFile } of Deno.readDir(new URL(folder, ROOT))) {
      if (isFile && name.endsWith(".md")) found.push(folder + name);
    }
  }
  for await (const { name, isDirectory } of Deno.readDir(ROOT)) {
    if (!isDirectory || name.startsWith(".")) continue;
    const path = `${name}/README.md`;
    const isThere = await Deno.stat(new URL(path, ROOT)).catch(() => undefined);
    if (isThere && !found.includes(path)) found.push(path);
  }
  return found.sort();
}

/** Settings of other programs. */
const FOREIGN = new Set(["apache", "go", "ini", "nginx", "yaml"]);
/** Commands, programs, and what is only read; tests/kit runs the python. */
const KNOWN = new Set(["sh", "ts", "json", "python", "text", "", ...FOREIGN]);

/** Shell blocks are run here, ts blocks by `deno test --doc`. */
const isCommand = (block: Block) => block.language === "sh";
const isIgnored = (block: Block) =>
  block.language === "ts" && block.words.includes("ignore");

const documents = new Map<string, readonly Block[]>();
for (const path of await findDocuments()) {
  documents.set(
    path,
    readBlocks(await Deno.readTextFile(new URL(path, ROOT))),
  );
}

Deno.test("whatever in the documents is not run says why, and is counted", () => {
  const counts: Record<string, number> = {};
  for (const [path, blocks] of documents) {
    for (const block of blocks) {
      const place = `${path}:${block.line}`;
      const reason = reasonNotRun(block);
      if (isIgnored(block) || FOREIGN.has(block.language)) {
        assert(reason, `${place} does not say why it is not run`);
      }
      if (reason === undefined) continue;
      console.log(`not run: ${place}: ${reason}`);
      counts[path] = (counts[path] ?? 0) + 1;
    }
  }
  assertEquals(counts, NOT_RUN);
});

Deno.test("no shell block hides behind another language", () => {
  for (const [path, blocks] of documents) {
    for (const { language, line } of blocks) {
      assert(
        KNOWN.has(language),
        `${path}:${line}: unknown language ${JSON.stringify(language)}`,
      );
    }
  }
});

/** All `sh` blocks that are run, with their places. */
function* commandBlocks(): Generator<
  readonly [string, Block, Block | undefined]
> {
  for (const [path, blocks] of documents) {
    for (const [i, block] of blocks.entries()) {
      if (isCommand(block) && reasonNotRun(block) === undefined) {
        yield [`${path}:${block.line}`, block, blocks[i + 1]];
      }
    }
  }
}

Deno.test("what is pasted works in bash and zsh, and destroys nothing", () => {
  const rules: readonly (readonly [string, RegExp])[] = [
    ["newcomers have no deno", /(?:^|[|&;(]\s*)deno\b/m],
    ["zsh takes a comment for a command", /(?:^|\s)#(?: |$)/m],
    ["it would close the terminal", /^\s*(?:exit|exec|set -\w+)\b/m],
    ["it destroys something", /\brm -\w*[rf]|\bshred\b|\bmkfs|\bdd\b/],
    ["it is about everybody's folders", /(?:~|\$HOME)\/(?!\.local\/bin)/],
    [
      "a server needs a second before it is asked",
      /[^&]&\n(?!.*[^&]&$)(?!sleep \d)/,
    ],
  ];
  for (const [place, { text }] of commandBlocks()) {
    const whole = `${text.replaceAll("\\\n", "")}\n`;
    for (const [why, rule] of rules) {
      assertEquals(rule.exec(whole)?.[0], undefined, `${place}: ${why}`);
    }
  }
});

Deno.test("a block that says no on the way shows what it prints", () => {
  for (const [place, block, next] of commandBlocks()) {
    if (!hasNo(block)) continue;
    assert(next?.language === "text" && next.follows, place);
  }
});

const missing = missingPrograms();
/** Without them the commands are visibly ignored; SIG_CI=1 demands them. */
const ignore = missing.length > 0 && Deno.env.get("SIG_CI") !== "1";

/** README.md is what most newcomers paste, many of them into zsh. */
const runs = [...documents.keys()].map((path) => ({ path, shell: "bash" }));
if (hasProgram("zsh")) runs.push({ path: "README.md", shell: "zsh" });

for (const { path, shell } of runs) {
  const blocks = documents.get(path)!;
  const toRun = blocks.filter((block) =>
    isCommand(block) && reasonNotRun(block) === undefined
  );
  if (toRun.length === 0) continue;
  Deno.test({
    name: `the commands of ${path} do in ${shell} what it says`,
    ignore,
    async fn() {
      assertEquals(missing, []);
      const before = await listCheckout();
      const { failure, outputs } = await runDocument(toRun, shell);
      assert(failure === undefined, `${path}: ${failure}`);
      compare(path, blocks, outputs);
      assertEquals(await listCheckout(), before);
    },
  });
}

/** The checkout's own files, without what tasks make. */
async function listCheckout(): Promise<readonly string[]> {
  const entries = await Array.fromAsync(Deno.readDir(ROOT));
  return entries.map(({ name }) => name).filter((name) => name !== "dist")
    .sort();
}

/** A `text` block right behind a command is its output. */
function compare(
  path: string,
  blocks: readonly Block[],
  outputs: ReadonlyMap<number, string>,
): void {
  for (const [i, block] of blocks.entries()) {
    const before = blocks[i - 1];
    if (block.language !== "text" || !block.follows || !before) continue;
    const output = outputs.get(before.line);
    if (output === undefined) continue;
    try {
      assertShown(output, block.text);
    } catch (error) {
      throw new Error(`${path}:${block.line} shows something else`, {
        cause: error,
      });
    }
  }
}
