/** The index of promises in SECURITY.md, from marks in the tests. @module */

import { ownFiles, ROOT } from "../workspace.ts";

/**
 * A mark: `// promise: …` above the tests that prove it. Further lines of the
 * sentence begin with `//` and two spaces.
 */
const MARK = /^\/\/ promise: (.+(?:\n\/\/ {2}.+)*)/gm;

/** What the promises of a package's tests are about. */
const TITLES: Readonly<Record<string, string>> = {
  core: "Events and answers",
  jose: "Keys and signatures",
  consumer: "Readers",
  issuer: "Issuers",
  cli: "The command line",
  api: "The API",
  web: "The login",
  tests: "Whole programs",
};

/** Everything before the index, which is written by hand. */
export const INDEX_START = "## Promises and their tests\n";

/** What the reader of the index must know. */
const INTRODUCTION =
  "Each line ends with its test in the folder of the heading, without `_test.*`.\n";

/** How the names of tests and recorded sessions end. */
const TEST = /_test\.(?:ts|txt)$/;

/** Returns the name of a test in the index. */
function nameOf(path: string, folder: string): string {
  return path.slice(`${folder}/`.length).replace(TEST, "");
}

/** Returns the index as Markdown. */
export function promisesIndex(): string {
  const parts = [INDEX_START, INTRODUCTION];
  for (const [folder, title] of Object.entries(TITLES)) {
    const promises: string[] = [];
    for (const path of [...ownFiles(`${folder}/`)].sort()) {
      if (!TEST.test(path)) continue;
      const text = Deno.readTextFileSync(new URL(path, ROOT));
      for (const [, mark] of text.matchAll(MARK)) {
        const sentence = mark!.replaceAll(/\n\/\/ +/g, " ");
        promises.push(`- ${sentence} \`${nameOf(path, folder)}\``);
      }
    }
    if (promises.length === 0) continue;
    parts.push(`### ${title}: \`${folder}/\`\n\n${promises.join("\n")}\n`);
  }
  return parts.join("\n");
}
