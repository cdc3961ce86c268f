/**
 * Runs the vectors of core and jose outside Deno: bundled, under Node.
 *
 * ```sh
 * deno bundle --platform browser --external 'node:*' -o runner.mjs tools/node_runner/main.ts
 * node runner.mjs <folder of vectors>
 * ```
 *
 * Prints one line a suite; exits 1 when any case came out wrong.
 *
 * @module
 */

import process from "node:process";
import {
  base64urlSuite,
  didWebSuite,
  jsonSuite,
  timestampSuite,
} from "./core_suites.ts";
import { envelopeSuite, wycheproofSuite } from "./jose_suites.ts";
import { pollutionSuite } from "./pollution_suite.ts";
import type { Suite } from "./suite.ts";

const SUITES: readonly (readonly [string, Suite])[] = [
  ["jsontestsuite", jsonSuite],
  ["timestamps", timestampSuite],
  ["didweb", didWebSuite],
  ["base64url", base64urlSuite],
  ["envelopes (node:crypto)", envelopeSuite("node")],
  ["envelopes (WebCrypto)", envelopeSuite("web")],
  ["wycheproof (node:crypto)", wycheproofSuite("node")],
  ["wycheproof (WebCrypto)", wycheproofSuite("web")],
  // Last, so that it sees what all the others left behind.
  ["prototype pollution", pollutionSuite],
];

async function run(vectors: string): Promise<boolean> {
  let good = true;
  for (const [name, suite] of SUITES) {
    const { cases, wrong } = await suite(vectors);
    const passed = cases > 0 && wrong.length === 0;
    if (!passed) good = false;
    console.log(
      `${passed ? "ok" : "FAILED"} ${name}: ${cases - wrong.length}/${cases}${
        wrong.length === 0 ? "" : `, wrong: ${wrong.slice(0, 10).join(" ")}`
      }`,
    );
  }
  return good;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error("Usage: node runner.mjs <folder of vectors>");
  process.exitCode = 2;
} else {
  process.exitCode = await run(folder) ? 0 : 1;
}
