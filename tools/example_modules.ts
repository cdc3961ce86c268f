/**
 * The `ts` examples in comments and documents, as test modules. `deno test
 * --doc` would start an isolate for each, which loads all of its imports; here
 * a package's examples share one. `deno check --doc` checks their types.
 *
 * @module
 */

import { ownFiles, ROOT } from "./workspace.ts";

/** An example, with its place. */
interface Example {
  /** The file's path from the root, and the line of the fence. */
  readonly place: string;
  readonly code: string;
}

const FENCE = /^```ts\n([\s\S]*?)^```$/gm;
const IMPORT = /^import\b[^;]*;$/gm;

/** Returns a file's lines, of code only those of `/** … *\/`, unindented. */
function proseOf(path: string, text: string): string {
  if (path.endsWith(".md")) return text;
  let isDoc = false;
  return text.split("\n").map((line) => {
    if (/^\s*\/\*\*/.test(line)) isDoc = true;
    const prose = isDoc ? line.replace(/^\s*\*(?!\/) ?/, "") : "";
    if (line.includes("*/")) isDoc = false;
    return prose;
  }).join("\n");
}

/** Yields all examples that run, in the order of their files. */
function* findExamples(): Generator<Example> {
  for (const path of [...ownFiles()].sort()) {
    if (!/\.(?:md|tsx?)$/.test(path) || path.endsWith("_test.ts")) continue;
    const text = Deno.readTextFileSync(new URL(path, ROOT));
    const prose = proseOf(path, text);
    for (const { 1: code, index } of prose.matchAll(FENCE)) {
      const line = prose.slice(0, index).split("\n").length;
      yield { place: `${path}:${line}`, code: code! };
    }
  }
}

/**
 * Writes a test module for each package that imports one for each of its
 * examples.
 *
 * @returns the modules' paths, by the name of the package.
 */
export function writeExampleModules(
  folder: string,
): ReadonlyMap<string, string> {
  const modules = new Map<string, string>();
  let count = 0;
  const byPackage = Map.groupBy(
    findExamples(),
    ({ place }) => place.includes("/") ? place.split("/")[0]! : "documents",
  );
  for (const [name, examples] of byPackage) {
    const imports = examples.map(({ place, code }) => {
      const file = `${folder}/example_${++count}.ts`;
      const own = new URL(place.replace(/:\d+$/, ""), ROOT);
      const imports = (code.match(IMPORT)?.join("\n") ?? "")
        .replaceAll(/"(\.[^"]+)"/g, (_, path) => `"${new URL(path, own)}"`);
      const body = code.replaceAll(IMPORT, "").replaceAll(/^export /gm, "");
      Deno.writeTextFileSync(
        file,
        `${imports}\nDeno.test("${place}", async () => {\n${body}});\n`,
      );
      return `import "${file}";\n`;
    });
    const file = `${folder}/examples_of_${name}.ts`;
    Deno.writeTextFileSync(file, imports.join(""));
    modules.set(name, file);
  }
  return modules;
}
