import { assertEquals } from "@std/assert";
import type { CheckResult } from "./answer.ts";
import { check } from "./check.ts";
import type { Question } from "./question.ts";
import { replay } from "../replay/replay.ts";
import type { SigEvent } from "../event/types.ts";
import { ALICE, day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";

const NOW = new Date(day(15));

function ask(
  events: readonly SigEvent[],
  question: Partial<Question> = {},
): CheckResult {
  return check(replay(events, { issuer: ISSUER }).state, {
    subject: ALICE,
    require: ["role=deploy"],
    now: NOW,
    ...question,
  });
}

const upAt = (
  sequence: number,
  relationship_id: string,
  changes: object = {},
) => upsert(sequence, { relationship_id, ...changes });
const role = (value: string) => ({ key: "role", value } as const);

Deno.test("an allow has all members", () => {
  assertEquals(
    ask([upsert(1)], {
      require: ["relationship=employee", { role: "deploy" }],
    }),
    {
      decision: "allow",
      subject: ALICE,
      requirements: [
        { key: "relationship", value: "employee" },
        { key: "role", value: "deploy" },
      ],
      matched_relationship_id: "r1",
      last_sequence: 1,
      issuer: ISSUER,
      reasons: [],
      evaluated_at: day(15),
      at: null,
      as_of: null,
      not_after: null,
    },
  );
});

Deno.test("a deny has all members", () => {
  const events = [upsert(1), revoke(2), upAt(3, "r2", { roles: [] })];
  assertEquals(ask(events, { at: day(3), asOf: "3" }), {
    decision: "deny",
    subject: ALICE,
    requirements: [role("deploy")],
    matched_relationship_id: null,
    last_sequence: 3,
    issuer: ISSUER,
    reasons: [{ code: "revoked", relationship_id: "r1", sequence: 2 }],
    evaluated_at: day(15),
    at: day(3),
    as_of: 3,
    not_after: null,
  });
});

Deno.test("a deny names the last of several relationships that would meet a requirement", () => {
  const events = [
    upAt(1, "a", { roles: ["admin"], valid_until: day(2) }),
    upAt(2, "b", { roles: ["admin"], valid_from: day(20) }),
  ];
  const { reasons } = ask(events, { require: ["role=admin", "role=deploy"] });
  assertEquals(reasons, [
    {
      code: "not_yet_valid",
      relationship_id: "b",
      sequence: 2,
      requirement: role("admin"),
    },
    { code: "role_missing", requirement: role("deploy") },
  ]);
});

Deno.test("not_after of a deny is the earliest start of a relationship that meets every requirement", () => {
  const events = [
    upAt(1, "a", { valid_from: day(22, "T00:00:00.09Z") }),
    upAt(2, "b", { valid_from: day(22, "T00:00:00.1Z") }),
    upAt(3, "c", { valid_from: day(16), roles: ["other"] }),
    upAt(4, "d", { valid_from: day(16), relationship_type: "other" }),
    revoke(5, { relationship_id: "d" }),
  ];
  assertEquals(ask(events).not_after, day(22, "T00:00:00.09Z"));
  assertEquals(
    ask(
      events.slice(2)
        .map((event, i) => ({ ...event, sequence: i + 1 })),
    ).not_after,
    null,
  );
  assertEquals(ask([upsert(1), revoke(2)]).not_after, null);
  assertEquals(ask([upsert(1, { valid_until: day(2) })]).not_after, null);
});

Deno.test("not_after of an answer about the past is null", () => {
  const events = [upsert(1, { valid_until: day(20) })];
  assertEquals(ask(events, { at: day(2) }).not_after, null);
  assertEquals(ask(events, { asOf: 1 }).not_after, null);
});

Deno.test("explain shows the evaluation of each relationship", () => {
  const events = [
    upsert(1, { valid_until: day(10) }),
    upAt(2, "r2", { roles: ["audit"] }),
    upAt(3, "r3", { subject: "did:web:bob.example" }),
  ];
  const { explain } = ask(events, { explain: true });
  assertEquals(explain, {
    judged_at: day(15),
    tense: "now",
    events: 3,
    relationships: [
      {
        relationship_id: "r1",
        relationship_type: "employee",
        roles: ["deploy"],
        valid_from: null,
        valid_until: day(10),
        effective_status: "expired",
        last_sequence: 1,
        requirements: [{ key: "role", value: "deploy", met: true }],
      },
      {
        relationship_id: "r2",
        relationship_type: "employee",
        roles: ["audit"],
        valid_from: null,
        valid_until: null,
        effective_status: "active",
        last_sequence: 2,
        requirements: [{ key: "role", value: "deploy", met: false }],
      },
    ],
  });
  const then = ask(events, { explain: true, at: day(5) }).explain;
  assertEquals([then?.tense, then?.judged_at], ["then", day(5)]);
  assertEquals("explain" in ask(events), false);
});
