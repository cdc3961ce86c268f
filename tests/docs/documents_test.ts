/**
 * Runs every command in the documents and compares the output with the shown
 * one. A block that can't be run here gives the reason in an HTML comment
 * before its fence.
 */

import { assert, assertEquals } from "@std/assert";
import { type Block, hasNo, readBlocks, reasonNotRun } from "./read_blocks.ts";
import { runDocument } from "./run_document.ts";
import { hasProgram, isCi } from "../kit/process.ts";

const ROOT = new URL("../../", import.meta.url);

/**
 * The number of blocks that are not run, by document, so that excluding a block
 * is a visible change.
 */
const NOT_RUN: { readonly [document: string]: number } = {
  "CONTRIBUTING.md": 1,
  "consumer/README.md": 1,
  "docs/deploy.md": 4,
  "docs/gate.md": 1,
  "docs/log-people-in.md": 1,
  "docs/node.md": 2,
  "docs/observe.md": 1,
  "docs/openid.md": 5,
  "docs/run-an-issuer.md": 1,
  "docs/ssh-and-git.md": 3,
  "tools/README.md": 3,
  "web/README.md": 1,
};

/**
 * Returns all documents but docs/reference, which is generated and whose
 * examples have separate tests.
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

/** Languages of other programs and their configurations. */
const FOREIGN = new Set(["apache", "go", "ini", "nginx", "yaml"]);
/** All languages of blocks; tests/kit runs the Python ones. */
const KNOWN = new Set([
  "sh",
  "ts",
  "js",
  "json",
  "python",
  "text",
  "",
  ...FOREIGN,
]);

/** Whether this file runs a block; `deno test --doc` runs ts blocks. */
const isCommand = (block: Block) => block.language === "sh";
const isIgnored = (block: Block) =>
  /^[jt]s$/.test(block.language) && block.words.includes("ignore");

const documents = new Map<string, readonly Block[]>();
for (const path of await findDocuments()) {
  documents.set(
    path,
    readBlocks(await Deno.readTextFile(new URL(path, ROOT))),
  );
}

Deno.test("blocks that are not run give a reason and are counted", () => {
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

Deno.test("every block has a known language", () => {
  for (const [path, blocks] of documents) {
    for (const { language, line } of blocks) {
      assert(
        KNOWN.has(language),
        `${path}:${line}: unknown language ${JSON.stringify(language)}`,
      );
    }
  }
});

/** Yields all `sh` blocks that are run, with their places. */
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

Deno.test("pasted commands work in bash and zsh, and delete nothing", () => {
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

Deno.test("a block with a failing command shows its output", () => {
  for (const [place, block, next] of commandBlocks()) {
    if (!hasNo(block)) continue;
    assert(next?.language === "text" && next.follows, place);
  }
});

const PROGRAMS = [
  ...["bash", "curl", "openssl", "grep", "sed", "sha256sum", "tar"],
  ...["git", "ssh", "ssh-add", "ssh-agent", "ssh-keygen", "sshd"],
];
const missing = Deno.build.os === "linux"
  ? PROGRAMS.filter((program) => !hasProgram(program))
  : ["linux"];
/** Without these programs the tests are ignored, unless SIG_CI=1. */
const ignore = missing.length > 0 && !isCi;

/** README.md also runs in zsh, since many new users paste it there. */
const runs = [...documents.keys()].map((path) => ({ path, shell: "bash" }));
if (hasProgram("zsh")) runs.push({ path: "README.md", shell: "zsh" });

for (const { path, shell } of runs) {
  const blocks = documents.get(path)!;
  const toRun = blocks.filter((block) =>
    isCommand(block) && reasonNotRun(block) === undefined
  );
  if (toRun.length === 0) continue;
  Deno.test({
    name: `the commands of ${path} print the shown output in ${shell}`,
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

/** Lists the files of the checkout, without generated ones. */
async function listCheckout(): Promise<readonly string[]> {
  const entries = await Array.fromAsync(Deno.readDir(ROOT));
  return entries.map(({ name }) => name).filter((name) => name !== "dist")
    .sort();
}

/** Compares each `text` block directly after a command with its output. */
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

/**
 * Asserts that the output is as shown. `…` matches any text within a line; a
 * line with only `…` matches any lines. Common indentation is ignored, since
 * `deno fmt` removes it.
 */
export function assertShown(actual: string, shown: string): void {
  const [found, expected] = [dedent(actual), dedent(shown)];
  const pattern = expected.split("\n").map((line) =>
    line.trim() === "…"
      ? "(?:.*\\n)*?"
      : line.split("…").map(RegExp.escape).join(".*") + "\\n"
  ).join("");
  const isSame = new RegExp(`^${pattern}$`).test(`${found}\n`);
  if (!isSame) assertEquals(found, expected);
}

function dedent(text: string): string {
  const lines = text.trimEnd().split("\n");
  const indents = lines.filter((line) => line.trim() !== "")
    .map((line) => line.length - line.trimStart().length);
  const common = Math.min(...indents);
  return lines.map((line) => line.slice(common)).join("\n");
}
