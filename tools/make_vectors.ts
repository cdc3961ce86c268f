/**
 * Writes `vectors/`: keys, feeds and questions with the results that they must
 * have. `--check` compares instead and exits 1 when something differs. The
 * results are written down in the cases; no code of the project computes them.
 *
 * @module
 */

import { spell, toBytes } from "./vectors/bytes.ts";
import { checkCases } from "./vectors/check_cases.ts";
import { feedCases } from "./vectors/feed_cases.ts";
import { keysDocument } from "./vectors/keys.ts";

const TARGET = new URL("../vectors/", import.meta.url);
/** What is written anew; everything else in there is written by hand. */
const GENERATED = ["check", "feed"];

type Files = Map<string, Uint8Array>;

function build(): Files {
  const files: Files = new Map();
  const put = (path: string, bytes: Uint8Array) => {
    if (files.has(path)) throw new Error(`Cannot make ${path}: it exists`);
    files.set(path, bytes);
  };
  put("keys.json", toBytes(spell(keysDocument())));
  for (const { name, files: documents, expected } of feedCases) {
    for (const [path, bytes] of documents) put(`feed/${name}/${path}`, bytes);
    put(`feed/${name}/expected.json`, toBytes(spell(expected)));
  }
  for (const { name, content } of checkCases) {
    put(`check/${name}.json`, toBytes(spell(content)));
  }
  return files;
}

function* listFiles(folder: string): Generator<string> {
  for (const entry of Deno.readDirSync(new URL(folder, TARGET))) {
    const path = `${folder}${entry.name}`;
    if (entry.isDirectory) yield* listFiles(`${path}/`);
    else yield path;
  }
}

function toUrl(path: string): URL {
  return new URL(path.split("/").map(encodeURIComponent).join("/"), TARGET);
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return Deno.readFileSync(toUrl(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

function isSame(a: Uint8Array, b: Uint8Array | undefined): boolean {
  return a.length === b?.length && a.every((byte, at) => byte === b[at]);
}

/** The paths that are missing, differ, or should not be there. */
function findStale(files: Files): string[] {
  const wrong = [...files].filter(([path, bytes]) =>
    !isSame(bytes, readIfThere(path))
  ).map(([path]) => path);
  const extra = GENERATED.flatMap((folder) => [...listFiles(`${folder}/`)])
    .filter((path) => !files.has(path));
  return [...wrong, ...extra];
}

function write(files: Files): void {
  for (const folder of GENERATED) {
    try {
      Deno.removeSync(new URL(`${folder}/`, TARGET), { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  for (const [path, bytes] of files) {
    Deno.mkdirSync(new URL("./", toUrl(path)), { recursive: true });
    Deno.writeFileSync(toUrl(path), bytes);
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
  `${feedCases.length} feeds, ${checkCases.length} questions, ` +
    `${files.size} files`,
);
