/**
 * Runs all tests, and every `ts` example. Run by `deno task test:unit`;
 * arguments, such as `--filter`, are passed to `deno test`.
 *
 * `deno test` runs each test module in a separate V8 isolate, which loads all
 * of its imports. For most modules this takes far longer than their tests. This
 * tool generates modules that import a few dozen test modules of a package. The
 * output shows the generated modules; a failure shows the place in the test
 * module.
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url);

/**
 * The packages, those with the longest modules first, so that none runs alone
 * at the end.
 */
const FOLDERS = [
  ...["cli", "tests", "web", "consumer", "issuer", "api", "core", "jose"],
];
/** Folders with examples only. */
const REST = ["tools", "bench", "docs", "examples", "*.md"];
/**
 * Slow modules, mostly with processes and browsers, which are not grouped,
 * since the rest of a group would wait for them.
 */
const ALONE = [
  "cli/permissions_test.ts",
  "cli/pins_faults_test.ts",
  "issuer/crash_test.ts",
  "tests",
  "web/openid/processes_test.ts",
  "web/ui_test",
];
/**
 * Number of test modules in a group: large enough to share imports, small
 * enough to use several threads.
 */
const MODULES_TOGETHER = 24;

/** Yields the test modules below a folder as paths from the root, sorted. */
function* testsBelow(folder: string): Generator<string> {
  const entries = [...Deno.readDirSync(new URL(folder, ROOT))];
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    const path = `${folder}/${name}`;
    if (ALONE.includes(path)) continue;
    if (isDirectory) yield* testsBelow(path);
    else if (path.endsWith("_test.ts")) yield path;
  }
}

/** Writes the modules that import test modules. Returns the paths of both. */
function writeModules(folder: string) {
  const made: string[] = [];
  const imported: string[] = [];
  for (const name of FOLDERS.filter((each) => !ALONE.includes(each))) {
    const paths = [...testsBelow(name)];
    imported.push(...paths);
    for (let at = 0; at < paths.length; at += MODULES_TOGETHER) {
      const file = `${folder}/${name}_${1 + at / MODULES_TOGETHER}.ts`;
      const lines = paths.slice(at, at + MODULES_TOGETHER)
        .map((path) => `import "${new URL(path, ROOT)}";\n`);
      Deno.writeTextFileSync(file, lines.join(""));
      made.push(file);
    }
  }
  return { made, imported };
}

const folder = await Deno.makeTempDir({ prefix: "sig-tests-" });
let code = 1;
try {
  const { made, imported } = writeModules(folder);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      // `deno task check` checks the types.
      ...["test", "-A", "--doc", "--no-check", "--parallel"],
      // The generated modules load these.
      ...["--config", "deno.json", `--ignore=${imported.join(",")}`],
      ...Deno.args,
      // No path contains another one, since Deno would then apply --ignore
      // wrongly.
      ...[...FOLDERS, ...made, ...REST],
    ],
    cwd: ROOT,
    // More jobs than processors, since many tests wait for processes and
    // browsers.
    env: { DENO_JOBS: "5" },
  }).spawn();
  code = (await child.status).code;
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(code);
