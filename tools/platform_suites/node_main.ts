/**
 * The suites under Node: bundled by `bundle.ts`, then `node suites.mjs
 * <inputs.json>`. Prints a line for each suite; exits with 1 if a case fails.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import { runSuites } from "./run_suites.ts";

const [path] = process.argv.slice(2);
if (path === undefined) {
  console.error("Usage: node suites.mjs <inputs.json>");
  process.exitCode = 2;
} else {
  const inputs = JSON.parse(readFileSync(path, "utf8"));
  const { lines, passed } = await runSuites(inputs, "node");
  for (const line of lines) console.log(line);
  process.exitCode = passed ? 0 : 1;
}
