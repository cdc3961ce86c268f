/** Running `sig doctor` and reading what it found. @module */

import { assertEquals } from "@std/assert";
import type { Given, Workspace } from "./workspace.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly [member: string]: string;
}

/** Runs it; the findings by code and severity. */
export async function doctor(
  workspace: Workspace,
  words: readonly string[] = ["$D/acme"],
  given: Given = {},
) {
  const { code, stdout, stderr } = await workspace.sig(
    ["doctor", ...words, "--format", "json"],
    given,
  );
  assertEquals(stderr, "");
  return { code, found: shortened(stdout) };
}

/** Code and severity of each finding; every one has all of its members. */
export function shortened(stdout: string): readonly (readonly string[])[] {
  const findings: readonly Found[] = JSON.parse(stdout).findings;
  for (const found of findings) {
    assertEquals(
      Object.keys(found),
      ["code", "severity", "what", "why", "mend", "where"],
    );
    for (const text of Object.values(found)) {
      assertEquals(typeof text === "string" && text !== "", true, found.code);
    }
  }
  return findings.map(({ code, severity }) => [code, severity]);
}
