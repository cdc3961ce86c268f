/** Runs of `sig doctor` and their findings. @module */

import { assertEquals } from "@std/assert";
import type { Given, Workspace } from "./workspace.ts";

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly [member: string]: string;
}

/** Runs `sig doctor` and returns code and severity of each finding. */
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

/** Returns code and severity of each finding, which must be complete. */
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
  // Only the tests about recovery have an issuer with a recovery key.
  return findings.filter(({ code }) => code !== "no_recovery_key")
    .map(({ code, severity }) => [code, severity]);
}
