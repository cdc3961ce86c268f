/**
 * Runs all tests, and every `ts` example. Run by `deno task test:unit`;
 * arguments that begin with `-`, such as `--filter`, are passed to `deno test`,
 * and others are the only files to run. `--each` runs every file alone, to find
 * the slowest ones.
 *
 * Most test modules take far longer to load than to run. This tool therefore
 * writes modules that import a few dozen test modules of a package; each runs
 * in a process of its own, some of them at once. They share one bundle of the
 * programs. The output of a process is printed when it ends, and at the end the
 * processes that took the most processor time, with that of their children.
 *
 * @module
 */

import { bundleAll, PROGRAMS_VARIABLE } from "../tests/kit/programs.ts";
import { writeExampleModules } from "./example_modules.ts";
import { ROOT } from "./workspace.ts";

/** Folders with tests; those whose groups take longest come first. */
const FOLDERS = [
  ...["tests", "web", "cli", "consumer", "issuer", "api", "core", "jose"],
];
/**
 * The slowest modules, most of them with many processes. They run alone, since
 * the rest of a group would wait for them.
 */
const ALONE = [
  "tests/docs/documents_test.ts",
  "tests/mutation_test.ts",
  "cli/permissions_test.ts",
  "cli/ask/pin_flags_test.ts",
  "issuer/crash_test.ts",
  "web/openid/processes_test.ts",
  // They compile, pack and publish.
  ...["compile", "jsr", "npm", "release"]
    .map((name) => `tests/ship/${name}_test.ts`),
];
/** Modules of these folders share a group: they share servers. */
const TOGETHER = ["tests/servers", "tests/ship", "tests/docs"];
/** What modules import that share a browser, and so a group. */
const BROWSER = "/testdata/browser.ts";
/** The number of test modules in a group. */
const GROUP = { together: 10, other: 24 };
/** More than two processors have, since many tests wait for processes. */
const JOBS = Math.max(4, navigator.hardwareConcurrency);
/** The number of processes that the end of the output lists. */
const MOST_NAMED = 10;
const EACH = "--each";

/** Test modules, or examples, that one process runs. */
interface Unit {
  readonly name: string;
  readonly args: readonly string[];
}

/** Yields the test modules below a folder as paths from the root, sorted. */
function* testsBelow(folder: string): Generator<string> {
  const entries = [...Deno.readDirSync(new URL(folder, ROOT))];
  entries.sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { name, isDirectory } of entries) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* testsBelow(path);
    else if (path.endsWith("_test.ts")) yield path;
  }
}

function testsIn(folder: string): readonly string[] {
  return [...testsBelow(folder)];
}

function alone(path: string): Unit {
  return { name: path, args: [path] };
}

/** Writes the modules that import test modules, and returns all units. */
function unitsOf(folder: string): readonly Unit[] {
  const all = FOLDERS.flatMap(testsIn);
  const grouped = all.filter((path) => !ALONE.includes(path));
  const byRoom = Map.groupBy(
    grouped,
    (path) =>
      Deno.readTextFileSync(new URL(path, ROOT)).includes(BROWSER)
        ? "browser"
        : TOGETHER.find((room) => path.startsWith(`${room}/`)) ??
          path.split("/")[0]!,
  );
  const groups = [...byRoom].flatMap(([room, paths]) => {
    const size = room === "browser" || TOGETHER.includes(room)
      ? GROUP.together
      : GROUP.other;
    const number = Math.ceil(paths.length / size);
    return Array.from({ length: number }, (_, at): Unit => {
      const own = paths.filter((_, i) => i % number === at);
      const file = `${folder}/${room.replaceAll("/", "_")}_${at + 1}.ts`;
      const lines = own.map((path) => `import "${new URL(path, ROOT)}";\n`);
      Deno.writeTextFileSync(file, lines.join(""));
      const name = `${room} ${at + 1} of ${number} (${own.length} files)`;
      return { name, args: [file] };
    });
  });
  return [
    ...ALONE.map(alone),
    ...groups,
    ...writeExampleModules(folder).entries().map(([name, file]) => ({
      name: `examples of ${name}`,
      args: [file],
    })),
  ];
}

const folder = await Deno.makeTempDir({ prefix: "sig-tests-" });
/** The bundle of the programs. */
const programs = `${folder}/programs`;

/** Where `deno test` begins to repeat what failed. */
const ERRORS = " ERRORS ";

/** Runs a unit; returns its failures, if any, and processor time in seconds. */
async function run({ name, args }: Unit, options: readonly string[]) {
  const test = [
    // `deno task check` checks the types.
    ...["test", "-A", "--no-check", "--config", "deno.json"],
    ...[...options, ...args],
  ];
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    // `times` prints the time of the shell, then that of its children.
    args: ["-c", '"$@"; code=$?; times; exit $code', "sh"]
      .concat(Deno.execPath(), test),
    cwd: ROOT,
    env: { [PROGRAMS_VARIABLE]: programs },
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout).trimEnd();
  const lines = text.split("\n");
  const spent = [...lines.at(-1)!.matchAll(/(\d+)m([\d.]+)s/g)]
    .reduce((sum, [, m, s]) => sum + 60 * Number(m) + Number(s), 0);
  const output = lines.slice(0, -2).join("\n");
  console.log(`\n${name}: ${spent.toFixed(1)} s of processor time\n${output}`);
  if (stderr.length > 0) await Deno.stderr.write(stderr);
  const from = Math.max(0, text.lastIndexOf(ERRORS));
  return { name, failures: code === 0 ? null : text.slice(from), spent };
}

const results: Awaited<ReturnType<typeof run>>[] = [];
try {
  const options = Deno.args.filter((each) =>
    each.startsWith("-") && each !== EACH
  );
  const paths = Deno.args.filter((each) => !each.startsWith("-"));
  if (Deno.args.includes(EACH)) paths.push(...FOLDERS.flatMap(testsIn));
  const units = paths.length > 0 ? paths.map(alone) : unitsOf(folder);
  const waiting = units.values();
  await bundleAll(programs);
  await Promise.all(
    Array.from({ length: JOBS }, async () => {
      for (const unit of waiting) results.push(await run(unit, options));
    }),
  );
} finally {
  await Deno.remove(folder, { recursive: true });
}
results.sort((a, b) => b.spent - a.spent);
const total = results.reduce((sum, { spent }) => sum + spent, 0);
console.log(`\nProcessor time: ${total.toFixed(0)} s, most of it for`);
for (const { name, spent } of results.slice(0, MOST_NAMED)) {
  console.log(`${spent.toFixed(1).padStart(8)} s  ${name}`);
}
const failed = results.filter(({ failures }) => failures !== null);
for (const { failures, name } of failed) {
  console.error(`failed: ${name}\n${failures}`);
}
Deno.exit(failed.length === 0 ? 0 : 1);
