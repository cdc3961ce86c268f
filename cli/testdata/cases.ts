/** Runs of the command line as data, with the expected results. @module */

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Given, Workspace } from "./workspace.ts";

/** A run: arguments and input, with the expected results. */
export interface Case extends Given {
  readonly name: string;
  readonly args: string;
  readonly code?: number;
  /** The exact text, or a list of parts that it must contain. */
  readonly stdout?: string | readonly string[];
  readonly stderr?: string | readonly string[];
}

/** Runs a case and asserts its results. */
export async function runCase(workspace: Workspace, each: Case): Promise<void> {
  const ran = await workspace.sig(each.args, each);
  expect(each, "stdout", ran.stdout, each.stdout ?? "");
  expect(each, "stderr", ran.stderr, each.stderr ?? "");
  assertEquals(ran.code, each.code ?? 0, each.name);
}

function expect(
  { name }: Case,
  stream: string,
  actual: string,
  expected: string | readonly string[],
): void {
  if (typeof expected === "string") {
    assertEquals(actual, expected, `${name}: ${stream}`);
  } else {
    for (const part of expected) {
      assertStringIncludes(actual, part, `${name}: ${stream}`);
    }
  }
}

/** A question without its requirements. */
export const CHECK = "check --sig $D/acme --subject did:web:alice.example";
/** Arguments that append a new relationship. */
export const UPSERT =
  "upsert --dir $D/acme --subject did:web:carol.example --type advisor";
