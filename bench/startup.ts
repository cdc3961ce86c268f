/**
 * Goal 8. A whole process of `sig check` on a local issuer of 5 events,
 * compared with an empty script (at most 2 ×).
 *
 * @module
 */

import { runWell, tempFolder } from "../tests/kit/process.ts";
import { start as startSig } from "../cli/testdata/process.ts";
import { LAZY_IMPORTS } from "../tools/launcher.ts";
import { comparePairs } from "./pairs.ts";

const RUNS = 5;
await using folder = await tempFolder();
const cwd = folder.path;

async function sig(...words: string[]): Promise<void> {
  await using child = startSig(words, {
    cwd,
    // With the options of the launchers of `deno task install`.
    permissions: ["-A", LAZY_IMPORTS],
  });
  const { code, stderr } = await child.ended();
  if (code > 1) throw new Error(stderr);
}
const times = (work: () => Promise<unknown>) => async () => {
  for (let i = 0; i < RUNS; i++) await work();
};

await Deno.writeTextFile(`${cwd}/empty.ts`, "");
await sig("init", "acme.example", "--dir", "acme");
for (let i = 0; i < 5; i++) {
  const subject = `did:web:person-${i}.example`;
  await sig(
    ...["upsert", "--dir", "acme", "--type", "other", "--subject", subject],
  );
}
const empty = () => runWell(Deno.execPath(), ["run", "empty.ts"], { cwd });
const { a, b, ratio } = await comparePairs(
  times(() =>
    sig(
      ...["check", "--sig", "./acme", "--require", "relationship=other"],
      ...["--subject", "did:web:person-1.example"],
    )
  ),
  times(empty),
  15,
);
console.log(
  `sig check ${(a / RUNS).toFixed(0)} ms, empty script ${
    (b / RUNS).toFixed(0)
  } ms: ${ratio.toFixed(2)} × (goal: at most 2)`,
);
