/**
 * Finds code that makes tests fail on a slow or busy machine: assertions on
 * elapsed time, fixed sleeps, and processes that are not ended. Run by `deno
 * task check:tests`, part of `deno task test`.
 *
 * A test waits with `tests/kit/wait.ts`, counts or orders events, or injects a
 * clock. If it needs real time, for example for a shell that polls, a comment
 * of at least three words gives the reason, at most five lines before: `// real
 * time: the shell waits until the server listens.` `// spawned here: …` allows
 * a process whose streams are tested.
 *
 * @module
 */

import { ownFiles, ROOT } from "./workspace.ts";

/** A violation of a rule. */
export interface TestFault {
  /** The line, from 1. */
  readonly line: number;
  /** The problem and its solution. */
  readonly message: string;
}

const ELAPSED =
  "elapsed time is measured; count, order events, or pass a clock instead";
const SLEEP =
  "a fixed sleep or timer; wait for what is expected with tests/kit/wait.ts";

const SPAWN = "a process; start it with tests/kit/process.ts, which ends it";

const RULES: readonly (readonly [pattern: RegExp, message: string])[] = [
  [/\bperformance\.now\(|\bhrtime\b|\bTemporal\.Now\b/, ELAPSED],
  [/\bDate\.now\(\) *(?:- *[a-z(]|[<>])/, ELAPSED],
  [/(?:[a-z)] *- *|[<>]=? *)Date\.now\(\)/, ELAPSED],
  [/\bnew Date\(\) *(?:-|[<>])/, ELAPSED],
  [/\bassert\w*\(.*\b(?:elapsed|took|durationMs)\b/, ELAPSED],
  [/\b(?:setTimeout|setInterval|setImmediate|waitForTimeout)\(/, SLEEP],
  [/\bAbortSignal\.timeout\(|@std\/async|\btimers\/promises\b/, SLEEP],
  [/\bsleep [.\d]/, SLEEP],
  [/\.spawn\(\)/, SPAWN],
];

const ALLOWED = /\/\/ (?:real time|spawned here): \S+ \S+ \S+/;
/** Number of lines that a comment covers, including its own. */
const REACH = 6;
/** The modules for timers and for processes. */
const OWN = ["tests/kit/wait.ts", "tests/kit/process.ts"];

/** Returns the violations in a test file. */
export function findTestFaults(text: string): TestFault[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const rule = RULES.find(([pattern]) => pattern.test(line));
    if (rule === undefined || /^\s*(?:\/\/|\*|\/\*)/.test(line)) return [];
    const near = lines.slice(Math.max(0, at + 1 - REACH), at + 1);
    if (near.some((each) => ALLOWED.test(each))) return [];
    return [{ line: at + 1, message: rule[1] }];
  });
}

/** Whether a file is a test or is used only by tests. */
export function isOfTests(path: string): boolean {
  return !OWN.includes(path) && /\.tsx?$/.test(path) &&
    /_test\.tsx?$|(?:^|\/)(?:tests|testdata|ui_test)\/|(?:^|\/)(?:testing|store_contract)\.ts$/
      .test(path);
}

if (import.meta.main) {
  let faults = 0;
  for (const path of [...ownFiles()].filter(isOfTests).sort()) {
    const text = Deno.readTextFileSync(new URL(path, ROOT));
    for (const { line, message } of findTestFaults(text)) {
      console.error(`${path}:${line}: ${message}`);
      faults++;
    }
  }
  if (faults > 0) {
    console.error(`${faults} faults; see "Tests" in CONTRIBUTING.md`);
    Deno.exit(1);
  }
}
