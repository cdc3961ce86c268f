import { SigError } from "@sig/core";
import { assertEquals, assertThrows } from "@std/assert";
import { recoveryLines, requireFittingLines } from "./checkpoint_lines.ts";
import { digestStatements, type Recovery } from "./recovery.ts";
import { commitmentTo, type StatementClaims } from "./statement.ts";
import { encodeBase64Url } from "../bytes/bytes.ts";

const commitment = commitmentTo("A".repeat(43));

/** Returns a chain whose statements are not signed: only texts are compared. */
function recoveryOf(statements: readonly string[], size = 3): Recovery {
  return {
    member: { commitment, statements },
    statements: statements.map((_, i) =>
      ({ n: i + 1, size }) as StatementClaims
    ),
    ended: new Map(),
    keys: null,
    next: commitment,
  };
}

const hash = new Uint8Array(32);
const plain = {
  ...{ origin: "acme.example/.well-known/sig", size: 3, bytes: 30 },
  ...{ root: hash, state: hash, keys: hash },
};

Deno.test("a checkpoint names the commitment, and the statements with their digest", () => {
  assertEquals(recoveryLines(undefined), {});
  assertEquals(recoveryLines(recoveryOf([])), { recovery: commitment });
  const digest = encodeBase64Url(digestStatements(["a", "b"]));
  assertEquals(recoveryLines(recoveryOf(["a", "b"])), {
    recovery: commitment,
    statements: `2 ${digest}`,
  });
});

Deno.test("a checkpoint fits the statements that it knows, and an older one fits too", () => {
  const recovery = recoveryOf(["a", "b"]);
  const fits = (lines: object, of: Recovery | undefined = recovery) =>
    requireFittingLines({ ...plain, ...lines }, of);
  fits({});
  fits(recoveryLines(recovery));
  fits(recoveryLines(recoveryOf(["a"])));
  const refused = (
    lines: object,
    why: string,
    of: Recovery | null = recovery,
  ) => {
    const error = assertThrows(
      () => requireFittingLines({ ...plain, ...lines }, of ?? undefined),
      SigError,
      why,
    );
    assertEquals(error.code, "invalid_checkpoint");
  };
  refused({ recovery: commitmentTo("B".repeat(43)) }, 'line "recovery"');
  refused({ recovery: commitment }, 'line "recovery"', null);
  refused(recoveryLines(recoveryOf(["a", "c"])), 'line "statements"');
  refused(recoveryLines(recoveryOf(["a", "b", "c"])), 'line "statements"');
  refused({ recovery: commitment, statements: "x" }, 'line "statements"');
  refused({ size: 2 }, "it has 2 events, and the last statement 3");
});
