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

Deno.test("subjects are compared as strings", () => {
  const subjects = [
    "did:web:Alice.example",
    "did:web:alice.example ",
    "did:web:alice",
    "alice",
    "__proto__",
  ];
  for (const subject of subjects) {
    assertEquals(
      ask([upsert(1)], { subject }).reasons,
      [{ code: "no_relationship" }],
      subject,
    );
  }
  const named = upsert(1, { subject: "constructor" });
  assertEquals(ask([named], { subject: "constructor" }).decision, "allow");
});

Deno.test("a subject without any relationship is denied with no_relationship", () => {
  const none = [{ code: "no_relationship" as const }];
  assertEquals(ask([]).reasons, none);
  assertEquals(
    ask([upsert(1, { subject: "did:web:bob.example" })]).reasons,
    none,
  );
  const moved = [upsert(1), upsert(2, { subject: "did:web:bob.example" })];
  assertEquals(ask(moved).reasons, none);
  assertEquals(ask(moved, { at: day(1) }).decision, "allow");
});

Deno.test("a requirement that no relationship meets is denied with …_missing", () => {
  const table = [
    ["relationship=founder", "relationship_type_missing"],
    ["role=admin", "role_missing"],
    ["relationship_id=r9", "relationship_id_missing"],
  ] as const;
  for (const [text, code] of table) {
    const { reasons, requirements } = ask([upsert(1)], { require: [text] });
    assertEquals(reasons, [{ code, requirement: requirements[0]! }]);
  }
  const all = ask([upsert(1)], { require: table.map(([text]) => text) });
  assertEquals(
    all.reasons.map(({ code }) => code as string),
    table.map(([, code]) => code),
  );
  // A requirement that is met is not listed.
  const one = ask([upsert(1)], { require: ["role=deploy", "role=admin"] });
  assertEquals(one.reasons, [
    { code: "role_missing", requirement: role("admin") },
  ]);
});

Deno.test("a deny lists the status of each relationship that meets every requirement", () => {
  const events = [
    upAt(1, "a", { valid_until: day(2) }),
    upAt(2, "b", { valid_from: day(20) }),
    upAt(3, "c"),
    revoke(4, { relationship_id: "c" }),
    upAt(5, "d", { roles: ["other"] }),
  ];
  assertEquals(ask(events).reasons, [
    { code: "expired", relationship_id: "a", sequence: 1 },
    { code: "not_yet_valid", relationship_id: "b", sequence: 2 },
    { code: "revoked", relationship_id: "c", sequence: 4 },
  ]);
});

Deno.test("a deny lists each requirement that no effective relationship meets", () => {
  const events = [
    upAt(1, "a", { roles: ["admin"] }),
    revoke(2, { relationship_id: "a" }),
    upAt(3, "b", { roles: ["deploy"] }),
  ];
  const require = ["role=deploy", "role=admin", "role=audit"];
  assertEquals(ask(events, { require }).reasons, [
    {
      code: "revoked",
      relationship_id: "a",
      sequence: 2,
      requirement: role("admin"),
    },
    { code: "role_missing", requirement: role("audit") },
  ]);
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

Deno.test("requirements that only several relationships meet together are denied with requirements_split", () => {
  const events = [
    upAt(1, "a", { roles: ["deploy"], relationship_type: "contractor" }),
    upAt(2, "b", { roles: ["audit"], relationship_type: "employee" }),
  ];
  const split = ask(events, {
    require: ["relationship=employee", "role=deploy"],
  });
  assertEquals(
    [split.decision, split.reasons, split.matched_relationship_id],
    ["deny", [{ code: "requirements_split" }], null],
  );
  assertEquals(
    ask(events, { require: ["relationship=employee", "role=audit"] })
      .matched_relationship_id,
    "b",
  );
});

Deno.test("an allow names the match with the highest last_sequence", () => {
  const events = [upAt(1, "a"), upAt(2, "b"), upAt(3, "c", { roles: [] })];
  const later = [...events, upAt(4, "a")];
  assertEquals(ask(events).matched_relationship_id, "b");
  assertEquals(ask(later).matched_relationship_id, "a");
  // The answer's last_sequence is the feed's.
  assertEquals(ask(events).last_sequence, 3);
});

Deno.test("not_after of an allow is the end of the relationship", () => {
  assertEquals(ask([upsert(1)]).not_after, null);
  const until = day(20, "T00:00:00.5Z");
  assertEquals(ask([upsert(1, { valid_until: until })]).not_after, until);
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
