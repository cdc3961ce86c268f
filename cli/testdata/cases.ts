/** Runs as data: what one is given, and what must come of it. @module */

import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Given, Workspace } from "./workspace.ts";

/** A run as data: what it is given, and what must come of it. */
export interface Case extends Given {
  readonly name: string;
  readonly args: string;
  readonly code?: number;
  /** Exactly, unless it is a list of what must be in it. */
  readonly stdout?: string | readonly string[];
  readonly stderr?: string | readonly string[];
}

/** Runs a case, and asserts what came of it. */
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

/** A question, but for what it requires. */
export const CHECK = "check --sig $D/acme --subject did:web:alice.example";
/** A new relationship. */
export const UPSERT =
  "upsert --dir $D/acme --subject did:web:carol.example --type advisor";
