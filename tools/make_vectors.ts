/**
 * Writes `vectors/`: keys, and feeds by theme with their expected results;
 * `questions.json` is written by hand. `--check` compares instead, and exits
 * with 1 if a file differs. The expected results are literals in the cases; no
 * code of the project computes them.
 *
 * @module
 */

import { spell } from "./vectors/bytes.ts";
import { themes } from "./vectors/feed_cases.ts";
import { keysDocument } from "./vectors/keys.ts";
import { spellFile } from "./vectors/spell_file.ts";
import { themeFile } from "./vectors/theme_file.ts";

const TARGET = new URL("../vectors/", import.meta.url);
/**
 * A folder with generated files only; the other files are partly written by
 * hand.
 */
const GENERATED = "feed/";

const { cases: questions }: { cases: readonly { name: string }[] } = JSON.parse(
  Deno.readTextFileSync(new URL("questions.json", TARGET)),
);
const feedCases = Object.values(themes).flatMap(({ cases }) => cases);

/** Returns the texts by their path in `vectors/`. */
function build(): ReadonlyMap<string, string> {
  requireUnique([...feedCases, ...questions].map(({ name }) => name));
  return new Map([
    ["keys.json", spell(keysDocument())],
    ...Object.entries(themes).map(([name, theme]) =>
      [`${GENERATED}${name}.json`, spellFile(themeFile(theme))] as const
    ),
  ]);
}

/** Throws if two cases have the same name, which identifies them. */
function requireUnique(names: readonly string[]): void {
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i) throw new Error(`Two cases are ${name}`);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(new URL(path, TARGET));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Returns the paths that are missing, differ, or should not exist. */
function findStale(files: ReadonlyMap<string, string>): readonly string[] {
  const wrong = [...files.keys()].filter((path) =>
    readIfThere(path) !== files.get(path)
  );
  const extra = [...Deno.readDirSync(new URL(GENERATED, TARGET))]
    .map(({ name }) => GENERATED + name)
    .filter((path) => !files.has(path));
  return [...wrong, ...extra];
}

function write(files: ReadonlyMap<string, string>): void {
  const folder = new URL(GENERATED, TARGET);
  // Also removes files that are no longer generated.
  Deno.mkdirSync(folder, { recursive: true });
  Deno.removeSync(folder, { recursive: true });
  Deno.mkdirSync(folder);
  for (const [path, text] of files) {
    Deno.writeTextFileSync(new URL(path, TARGET), text);
  }
}

const files = build();
if (Deno.args.includes("--check")) {
  const stale = findStale(files);
  for (const path of stale) console.error(`stale: vectors/${path}`);
  if (stale.length > 0) Deno.exit(1);
} else {
  write(files);
}
console.log(
  `${feedCases.length} feeds, ${questions.length} questions, ` +
    `${files.size} files`,
);
