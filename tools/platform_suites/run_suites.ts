/** Runs all suites of a platform. @module */

import { feedSuite, questionSuite } from "./consumer_suites.ts";
import {
  base64urlSuite,
  didWebSuite,
  jsonSuite,
  timestampSuite,
} from "./core_suites.ts";
import { continuitySuite, fetchSuite, tlsSuite } from "./fetch_suites.ts";
import { invitationSuite } from "./invitation_suite.ts";
import { envelopeSuite, wycheproofSuite } from "./jose_suites.ts";
import { pollutionSuite } from "./pollution_suite.ts";
import { FileTree, type Inputs, type Platform, type Suite } from "./suite.ts";

/** A line for each suite, and whether all passed. */
export interface Report {
  readonly lines: readonly string[];
  readonly passed: boolean;
}

/** Returns the suites with their names, in order. */
function suitesFor(
  platform: Platform,
  { servers }: Inputs,
): readonly (readonly [string, Suite])[] {
  const hasNode = platform === "node";
  return [
    ["jsontestsuite", jsonSuite],
    ["timestamps", timestampSuite],
    ["didweb", didWebSuite],
    ["base64url", base64urlSuite],
    ...hasNode
      ? [["envelopes (node:crypto)", envelopeSuite("node")]] as const
      : [],
    ["envelopes (WebCrypto)", envelopeSuite("web")],
    ...hasNode
      ? [["wycheproof (node:crypto)", wycheproofSuite("node")]] as const
      : [],
    ["wycheproof (WebCrypto)", wycheproofSuite("web")],
    ["feeds", feedSuite],
    ["questions", questionSuite],
    ["invitations", invitationSuite],
    ...servers === undefined
      ? []
      : [["fetching", fetchSuite], ["continuity", continuitySuite]] as const,
    ...servers?.tls === undefined ? [] : [["TLS", tlsSuite]] as const,
    // Last, so that it detects pollution by the other suites.
    ["prototype pollution", pollutionSuite],
  ];
}

/** Runs the suites in sequence; an exception fails only its suite. */
export async function runSuites(
  inputs: Inputs,
  platform: Platform,
): Promise<Report> {
  const files = new FileTree(inputs.files);
  const context = { files, platform, servers: inputs.servers };
  const lines: string[] = [];
  let passed = true;
  for (const [name, suite] of suitesFor(platform, inputs)) {
    try {
      const { cases, wrong } = await suite(context);
      const good = cases > 0 && wrong.length === 0;
      const rest = wrong.length === 0
        ? ""
        : `, wrong: ${wrong.slice(0, 10).join(" ")}`;
      lines.push(
        `${good ? "ok" : "FAILED"} ${name}: ${
          cases - wrong.length
        }/${cases}${rest}`,
      );
      passed &&= good;
    } catch (error) {
      lines.push(`FAILED ${name}: ${error}`);
      passed = false;
    }
  }
  return { lines, passed };
}
