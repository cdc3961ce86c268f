import type { ReasonCode, RelationshipUpsertEvent } from "@sig/core";
import { assertEquals } from "@std/assert";
import { planChanges as plan } from "./plan_changes.ts";
import { readPlan } from "./read_plan.ts";
import * as kit from "../../tests/kit/events.ts";
import { ALICE } from "../../tests/kit/events.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { published } from "../testdata/published.ts";

const upsert = (
  relationship_id: string,
  members: Partial<RelationshipUpsertEvent> = {},
) => kit.upsert(1, { relationship_id, ...members });

Deno.test("a saved plan is read as it was, once, and only for relationships that agree", () => {
  const employee = upsert("r-1", { roles: ["deploy"] });
  const state = published([employee]);
  const made = plan(state, [{ subject: ALICE, type: "advisor", row: 2 }]);
  const saved = JSON.parse(JSON.stringify(made));
  assertEquals(readPlan(saved, state).changes, made.changes);
  // Once the feed has these changes, nothing is left to do.
  const reason_code: ReasonCode = "superseded";
  const after = published([
    employee,
    kit.revoke(1, { relationship_id: "r-1", reason_code }),
    upsert("r-2", { relationship_type: "advisor", roles: ["deploy"] }),
  ]);
  assertEquals(readPlan(saved, after).changes, []);
  for (
    const [other, code, reason] of [
      [
        { issuer: "did:web:b.example" },
        "issuer_mismatch",
        "it was made for another issuer",
      ],
      [
        { feed_sha256: "2" },
        "plan_outdated",
        "the feed ends at sequence 1, the plan was made at 1",
      ],
      [
        { last_sequence: 2 },
        "plan_outdated",
        "the feed ends at sequence 2, the plan was made at 1",
      ],
    ] as const
  ) {
    assertSigError(
      () => readPlan(saved, { ...state, ...other }),
      code,
      `Cannot apply plan: ${reason}`,
    );
  }
  for (
    const other of [
      { relationship_id: "r-2" },
      { subject: "did:key:x" },
      { action: "reactivate", fields: [] },
    ]
  ) {
    const changes = [{ ...saved.changes[0], ...other }];
    assertSigError(
      () => readPlan({ ...saved, changes }, state),
      "plan_outdated",
      "Cannot apply plan: it says something else of a relationship than the feed does",
    );
  }
  // The new type alone is half of the change.
  const half = published([
    employee,
    upsert("r-2", { relationship_type: "advisor", roles: ["deploy"] }),
  ]);
  assertSigError(
    () => readPlan(saved, half),
    "plan_outdated",
    "Cannot apply plan: the feed ends at sequence 2, the plan was made at 1",
  );
  // A saved plan can't hide what it changes.
  const [change] = saved.changes;
  const renamed = { ...change.after, title: "CEO" };
  const hidden = { ...saved, changes: [{ ...change, after: renamed }] };
  assertEquals(readPlan(hidden, state).changes[0]?.fields, ["type", "title"]);
});

Deno.test("a saved plan fills no gap without saying so", () => {
  const now = new Date("2026-06-01T00:00:00Z");
  const row = {
    ...{ subject: ALICE, type: "employee" as const },
    valid_from: "2020-01-01T00:00:00Z",
  };
  const left = published([
    upsert("r-1"),
    kit.revoke(2, {
      relationship_id: "r-1",
    }),
  ]);
  const { changes: [change], ...made } = plan(left, [row], { now });
  const after = { ...change?.after, valid_from: row.valid_from };
  const saved = { ...made, changes: [{ ...change, after }] };
  assertEquals(
    readPlan(saved, left, now).changes[0]?.after?.valid_from,
    "2026-06-01T00:00:00Z",
  );
});

/** Changes to a saved plan of one update, which make it no plan. */
const NO_PLANS: readonly (readonly [
  what: string,
  plan: unknown,
  change?: unknown,
  after?: unknown,
])[] = [
  ["null", null],
  ["a list", []],
  ["a number as issuer", { issuer: 1 }],
  ["no feed", { based_on: null }],
  ["a fraction as sequence", {
    based_on: { last_sequence: 1.5, feed_sha256: "1" },
  }],
  ["no digest", { based_on: { last_sequence: 1 } }],
  ["an object as changes", { changes: {} }],
  ["null as a change", {}, null],
  ["a number as subject", {}, { subject: 1 }],
  ["an unknown action", {}, { action: "delete" }],
  ["text as fields", {}, { fields: "roles" }],
  ["a new type of a reactivation", {}, {
    action: "reactivate",
    fields: ["type"],
  }],
  ["a number as relationship", {}, { relationship_id: 1 }],
  ["an update of no relationship", {}, { relationship_id: null }],
  ["an update of nothing", {}, { before: null }],
  ["a creation of something", {}, { action: "create", relationship_id: null }],
  ["an update to nothing", {}, { after: null }],
  ["a revocation with members", {}, { action: "revoke" }],
  ["text as roles", {}, {}, { roles: "deploy" }],
  ["a number as role", {}, {}, { roles: [1] }],
  ["an unknown member", {}, {}, { status: "active" }],
  ["another member", {}, {}, { title: undefined, status: "active" }],
];

for (const [what, plan_, change, after] of NO_PLANS) {
  Deno.test(`refuses a saved plan with ${what}`, () => {
    const state = published([upsert("r-1")]);
    const row = { subject: ALICE, type: "employee", roles: [] } as const;
    const made = plan(state, [row]);
    const [update] = made.changes;
    const altered = {
      ...made,
      changes: [
        change === null ? null : {
          ...update,
          after: { ...update?.after, ...after as object },
          ...change as object,
        },
      ],
      ...plan_ as object,
    };
    const saved = what === "null" || what === "a list" ? plan_ : altered;
    assertSigError(
      () => readPlan(JSON.parse(JSON.stringify(saved)), state),
      "invalid_request",
      "Cannot apply plan: the file is not a plan as `sig plan --out` writes it",
    );
  });
}
