/**
 * Runs all tests, and every `ts` example. Run by `deno task test:unit`; what
 * follows goes to `deno test`, `--filter` for one.
 *
 * To a test module `deno test` gives a thread with a V8 of its own, which loads
 * all that it imports: for most far more work than their tests. Those of a
 * package are loaded together, a few dozen at a time, by modules that import
 * them and are made here. In the output these are named in front of the tests;
 * a failure names the place in the test's own module.
 *
 * @module
 */

const ROOT = new URL("../", import.meta.url);

/** In this order; a long module that began last would be waited for alone. */
const FOLDERS = [
  ...["cli", "tests", "web", "consumer", "issuer", "api", "core", "jose"],
];
/** Here are examples only. */
const REST = ["tools", "bench", "docs", "examples", "*.md"];
/**
 * Mostly processes and browsers, which take long: these are not loaded with
 * others, which would wait for them.
 */
const ALONE = [
  "cli/permissions_test.ts",
  "cli/pins_faults_test.ts",
  "issuer/crash_test.ts",
  "tests",
  "web/openid/processes_test.ts",
  "web/ui_test",
];
/** Enough to share what they import, and few enough for several threads. */
const MODULES_TOGETHER = 24;

/** The test modules below a folder, as paths from the root, sorted. */
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

/** Writes the modules that import others; both as paths. */
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
      // Types are the business of the task check.
      ...["test", "-A", "--doc", "--no-check", "--parallel"],
      // They are loaded by the others.
      ...["--config", "deno.json", `--ignore=${imported.join(",")}`],
      ...Deno.args,
      // None of these is within another: Deno would forget what it ignores.
      ...[...FOLDERS, ...made, ...REST],
    ],
    cwd: ROOT,
    // Many wait for processes and browsers.
    env: { DENO_JOBS: "5" },
  }).spawn();
  code = (await child.status).code;
} finally {
  await Deno.remove(folder, { recursive: true });
}
Deno.exit(code);
