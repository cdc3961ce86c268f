import { assertEquals, assertStrictEquals } from "@std/assert";
import { parseQuestion, parseRequirements, replay } from "@sig/core";
import { checkSteps, runSteps } from "@sig/core/internal";
import { NOW, upsert } from "../../tests/kit/test_issuer.ts";
import { ANSWER_LIMITS } from "./answer_check.ts";
import type { SigEvent } from "@sig/core";

// promise: Bodies, batches, explanations and warnings have limits.

function answerOf(
  events: number,
  role: string,
  roles = ["deploy"],
  requirements = 1,
) {
  const { state } = replay(
    Array.from(
      { length: events },
      (_, i) => upsert(i + 1, { roles }) as unknown as SigEvent,
    ),
  );
  return runSteps(checkSteps(
    state,
    parseQuestion({
      subject: "did:web:alice.example",
      require: parseRequirements(
        Array.from({ length: requirements }, () => ({ role })),
      ),
      explain: true,
    }),
    { ...ANSWER_LIMITS, now: NOW },
  ));
}

Deno.test("an answer explains at most 1,000 relationships and says that it is truncated", () => {
  const { explain: all } = answerOf(1_000, "admin");
  assertEquals(all?.relationships.length, 1_000);
  assertEquals(Object.hasOwn(all!, "truncated"), false);
  const { explain, decision } = answerOf(1_001, "admin");
  assertEquals(decision, "deny");
  assertEquals(explain?.relationships.length, 1_000);
  const { truncated, relationship_count } = explain as typeof explain & {
    truncated?: boolean;
    relationship_count?: number;
  };
  assertEquals([truncated, relationship_count], [true, 1_001]);
});

Deno.test("the matching relationship is always explained", () => {
  const answer = answerOf(3_000, "deploy");
  assertEquals(answer.matched_relationship_id, "rel-3000");
  assertEquals(answer.explain?.relationships.length, 1_000);
  const last = answer.explain?.relationships.at(-1);
  assertStrictEquals(last?.relationship_id, "rel-3000");
});

Deno.test("long requirements and roles in an explanation have a limit", () => {
  const role = "x".repeat(256 * 1024);
  assertEquals(answerOf(1_000, role).explain?.relationships.length, 3);
  const huge = "x".repeat(2 * 1024 * 1024);
  assertEquals(answerOf(1_000, huge).explain?.relationships.length, 1);
  const roles = ["y".repeat(60_000)];
  const { explain } = answerOf(1_000, "admin", roles);
  assertEquals(explain?.relationships.length, 17);
});

Deno.test("an explanation has at most 8,192 verdicts", () => {
  const { explain } = answerOf(1_000, "admin", ["deploy"], 64);
  assertEquals(explain?.relationships.length, 128);
  assertEquals(
    [explain?.truncated, explain?.relationship_count],
    [true, 1_000],
  );
});
