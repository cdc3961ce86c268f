/**
 * `sig --version` against an empty script, whole processes. Goal: at most 1.6.
 * Run: `deno run -A bench/startup.ts`
 *
 * @module
 */
import { comparePairs } from "./pairs.ts";

const ROOT = new URL("..", import.meta.url).pathname;
const RUNS = 5;

async function start(script: string, ...args: string[]): Promise<void> {
  for (let i = 0; i < RUNS; i++) {
    const { success } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--config", `${ROOT}deno.json`, script, ...args],
      stdout: "null",
      stderr: "null",
    }).output();
    if (!success) throw new Error(`${script} failed`);
  }
}

const empty = await Deno.makeTempFile({ suffix: ".ts" });
const { a, b, ratio } = await comparePairs(
  () => start(`${ROOT}cli/main.ts`, "--version"),
  () => start(empty),
  15,
);
await Deno.remove(empty);
console.log(`sig --version  ${(a / RUNS).toFixed(1)} ms`);
console.log(`empty script   ${(b / RUNS).toFixed(1)} ms`);
console.log(`ratio          ${ratio.toFixed(2)}  (goal: at most 1.6)`);
