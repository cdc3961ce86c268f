import { assertEquals } from "@std/assert";
import { findTestFaults, isOfTests } from "../tools/check_tests.ts";

const SLEEP = /fixed sleep/;
const ELAPSED = /elapsed time/;
const SPAWN = /tests.kit.process/;

// The patterns are split, so that this file has no fault itself.
const FAULTS: readonly (readonly [text: string, message: RegExp])[] = [
  ["await new Promise((go) => set" + "Timeout(go, 100));", SLEEP],
  ["const timer = set" + "Interval(look, 10);", SLEEP],
  ["await page.waitFor" + "Timeout(500);", SLEEP],
  ["const signal = AbortSignal.time" + "out(50);", SLEEP],
  ["`while true; do slee" + "p 0.05; done`", SLEEP],
  ["const start = perfor" + "mance.now();", ELAPSED],
  ["assert(Date.n" + "ow() - start < 500);", ELAPSED],
  ["assert(start > Date.n" + "ow());", ELAPSED],
  ["assert(new Da" + "te() - begun < limit);", ELAPSED],
  ["assert(ela" + "psed < 500);", ELAPSED],
  ["const child = command.spa" + "wn();", SPAWN],
];

Deno.test("finds elapsed time, fixed sleeps and processes that nothing ends", () => {
  for (const [text, message] of FAULTS) {
    const faults = findTestFaults(`// first\n${text}\n`);
    assertEquals(faults.map(({ line }) => line), [2], text);
    assertEquals(message.test(faults[0]!.message), true, text);
  }
});

Deno.test("a comment with a reason allows real time in the lines below it", () => {
  const [fault] = FAULTS[0]!;
  const allowed = "// real time: the shell polls.\n";
  assertEquals(findTestFaults(allowed + fault), []);
  assertEquals(findTestFaults(`// real time: yes\n${fault}`).length, 1);
  assertEquals(findTestFaults(allowed + "\n".repeat(6) + fault).length, 1);
});

Deno.test("allows points in time, and comments", () => {
  for (
    const text of [
      "const old = new Date(Date.now() - 300_000);",
      "const until = new Date(Date.now() + 60_000);",
      "// A set" + "Timeout( would be a fault.",
    ]
  ) assertEquals(findTestFaults(text), [], text);
});

Deno.test("checks tests and files that only tests use", () => {
  const paths = [
    ...["core/a_test.ts", "web/a_test.tsx", "cli/testdata/a.ts"],
    ...["tests/servers/a.ts", "web/ui_test/a.ts", "issuer/testing.ts"],
  ];
  for (const path of paths) assertEquals(isOfTests(path), true, path);
  for (const path of ["core/a.ts", "tools/a.ts", "tests/kit/wait.ts"]) {
    assertEquals(isOfTests(path), false, path);
  }
});
