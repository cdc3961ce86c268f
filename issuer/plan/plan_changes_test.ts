import {
  isSigError,
  type RelationshipUpsertEvent,
  type SigEvent,
} from "@sig/core";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { DesiredRelationship } from "./members.ts";
import { planChanges, type PlanOptions } from "./plan_changes.ts";
import { planDrafts } from "./plan_drafts.ts";
import { PublishedRelationships, type PublishedState } from "./published.ts";
import { readPlan } from "./read_plan.ts";

const ISSUER = "did:web:acme.example";
const ALICE = "did:web:alice.example";
const BOB = "did:web:bob.example";

let sequence = 0;

function upsert(
  relationship_id: string,
  members: Partial<RelationshipUpsertEvent> = {},
): RelationshipUpsertEvent {
  sequence++;
  return {
    spec_version: "sig/0.1",
    event_id: `e-${sequence}`,
    event_type: "relationship.upsert",
    issuer: ISSUER,
    issued_at: "2026-01-01T00:00:00Z",
    sequence,
    relationship_id,
    subject: ALICE,
    visibility: "public",
    relationship_type: "employee",
    status: "active",
    roles: ["deploy"],
    valid_from: null,
    valid_until: null,
    ...members,
  };
}

function revoke(relationship_id: string): SigEvent {
  sequence++;
  return {
    spec_version: "sig/0.1",
    event_id: `e-${sequence}`,
    event_type: "relationship.revoke",
    issuer: ISSUER,
    issued_at: "2026-01-01T00:00:00Z",
    sequence,
    relationship_id,
    revokes_relationship_id: relationship_id,
    subject: ALICE,
    visibility: "public",
    reason_code: "other",
    effective_at: "2026-01-01T00:00:00Z",
  };
}

function published(...events: SigEvent[]): PublishedState {
  const relationships = new PublishedRelationships();
  for (const event of events) relationships.add(event);
  return {
    issuer: ISSUER,
    last_sequence: events.length,
    feed_sha256: "00",
    relationships: relationships.byId,
    personOf: (subject) => relationships.persons.rootOf(subject),
  };
}

function plan(
  state: PublishedState,
  rows: readonly DesiredRelationship[],
  options?: PlanOptions,
) {
  return planChanges(state, rows, options);
}

Deno.test("what a row does not name stays: date, department, other display, visibility", () => {
  const state = published(upsert("r-1", {
    valid_until: "2027-01-01T00:00:00Z",
    visibility: "private",
    display: { title: "Engineer", department: "Ops", badge: 7 },
    metadata: { cost: 1 },
  }));
  const made = plan(state, [
    { subject: ALICE, type: "employee", roles: ["deploy", "review"], row: 2 },
  ]);
  const [change] = made.changes;
  assertEquals(change?.action, "update");
  assertEquals(change?.fields, ["roles"]);
  assertEquals(change?.row, 2);
  assertEquals(planDrafts(made, state, "other"), [{
    event_type: "relationship.upsert",
    subject: ALICE,
    relationship_id: "r-1",
    relationship_type: "employee",
    roles: ["deploy", "review"],
    valid_from: null,
    valid_until: "2027-01-01T00:00:00Z",
    metadata: { cost: 1 },
    visibility: "private",
    display: { title: "Engineer", department: "Ops", badge: 7 },
  }]);
});

Deno.test("an empty cell means none, and is a change", () => {
  const state = published(
    upsert("r-1", {
      valid_until: "2027-01-01T00:00:00Z",
      display: { title: "Engineer" },
    }),
  );
  const made = plan(state, [
    { subject: ALICE, type: "employee", valid_until: null, title: null },
  ]);
  assertEquals(made.changes[0]?.fields, ["valid_until", "title"]);
  const [draft] = planDrafts(made, state, "other");
  assert(draft?.event_type === "relationship.upsert");
  assertEquals([draft.valid_until, draft.display], [null, null]);
});

Deno.test("one spelling of an instant or another order of roles changes nothing", () => {
  const state = published(upsert("r-1", {
    roles: ["b", "a"],
    valid_from: "2026-01-01T00:00:00Z",
    metadata: { a: 1, b: [2] },
  }));
  const made = plan(state, [{
    subject: ALICE,
    type: "employee",
    roles: ["a", "b", "a"],
    valid_from: "2026-01-01T00:00:00.000Z",
    metadata: { b: [2], a: 1 },
  }]);
  assertEquals([made.changes, made.unchanged], [[], 1]);
});

Deno.test("a row without identifier is a new relationship where none is active", () => {
  const state = published(upsert("r-1"), revoke("r-1"));
  const made = plan(state, [{
    subject: ALICE,
    type: "employee",
    roles: ["x"],
  }]);
  assertEquals(made.changes[0]?.action, "create");
  assertEquals(made.changes[0]?.relationship_id, null);
  assertEquals(made.changes[0]?.fields, ["relationship_type", "roles"]);
});

Deno.test("a row with the identifier of a revoked one re-activates it, also unchanged", () => {
  const state = published(upsert("r-1"), revoke("r-1"));
  const made = plan(state, [
    { subject: ALICE, type: "employee", relationship_id: "r-1" },
  ]);
  assertEquals(made.changes[0]?.action, "reactivate");
  assertEquals(made.changes[0]?.fields, []);
});

Deno.test("two active relationships of one type are ambiguous, and named", () => {
  const state = published(upsert("r-1"), upsert("r-2"));
  const error = assertThrows(() =>
    plan(state, [{ subject: ALICE, type: "employee", row: 4 }])
  );
  assert(isSigError(error, "ambiguous_relationship"));
  assertEquals(
    error.message,
    'Cannot plan: row 4: "did:web:alice.example" has 2 active relationships of type employee: "r-1", "r-2"',
  );
  assertEquals(error.context.row, 4);
});

Deno.test("equal rows count once, contradicting ones are refused, and all faults are told", () => {
  const state = published(upsert("r-1"));
  const row = { subject: BOB, type: "advisor", roles: ["x"] } as const;
  assertEquals(plan(state, [row, { ...row, row: 3 }]).changes.length, 1);
  const error = assertThrows(() =>
    plan(state, [
      { ...row, row: 2 },
      { ...row, roles: ["y"], row: 3 },
      { subject: BOB, type: "employee", relationship_id: "r-1", row: 4 },
      {
        subject: ALICE,
        type: "employee",
        valid_from: "2026-02-01T00:00:00Z",
        valid_until: "2026-01-01T00:00:00Z",
        row: 5,
      },
    ])
  );
  assert(isSigError(error, "invalid_field"));
  const places = (error.context.errors ?? []) as readonly unknown[] as {
    row: number;
    column: string;
  }[];
  assertEquals(places.map(({ row, column }) => [row, column]), [
    [3, "roles"],
    [4, "subject"],
    [5, "valid_until"],
  ]);
});

Deno.test("a row that names its relationship and one that means it are the same relationship", () => {
  const state = published(upsert("r-1"));
  const error = assertThrows(() =>
    plan(state, [
      { subject: ALICE, type: "employee", roles: ["a"], row: 2 },
      {
        subject: ALICE,
        type: "employee",
        roles: ["b"],
        relationship_id: "r-1",
        row: 3,
      },
    ])
  );
  assert(isSigError(error, "invalid_field"));
  assert(error.message.includes("same relationship as row 2"), error.message);
});

Deno.test("a row can't make a second relationship beside one that means the only one", () => {
  const means = { subject: ALICE, type: "employee", roles: ["a"] } as const;
  const names = { ...means, relationship_id: "r-2", row: 3 } as const;
  const other = upsert("r-2", { relationship_type: "advisor" });
  for (
    const state of [
      published(),
      published(upsert("r-1")),
      published(upsert("r-1"), other),
      published(upsert("r-2"), revoke("r-2")),
    ]
  ) {
    const error = assertThrows(() =>
      plan(state, [{ ...means, row: 2 }, names])
    );
    assert(isSigError(error, "ambiguous_relationship"), String(error));
    assertEquals(
      error.message,
      'Cannot plan: row 2: another row gives "did:web:alice.example" a second relationship of type employee',
    );
  }
});

Deno.test("that a row means the only relationship is not forgotten where it repeats another", () => {
  const row = { subject: ALICE, type: "employee" } as const;
  const rows = [
    { ...row, relationship_id: "r-2", row: 2 },
    { ...row, relationship_id: "r-1", row: 3 },
    { ...row, row: 4 },
  ];
  const error = assertThrows(() => plan(published(upsert("r-1")), rows));
  assert(isSigError(error, "ambiguous_relationship"), String(error));
});

Deno.test("a list of some types can't take a relationship of another type by its name", () => {
  const error = assertThrows(() =>
    plan(published(upsert("r-1")), [
      { subject: ALICE, type: "advisor", relationship_id: "r-1", row: 2 },
    ], { types: ["advisor"] })
  );
  assert(isSigError(error, "invalid_field"), String(error));
  assertEquals(
    error.message,
    'Cannot plan: row 2: type "employee" is outside of what this list manages (advisor)',
  );
});

Deno.test("only what is listed is managed; prune ends the rest, within its types", () => {
  const state = published(
    upsert("r-1"),
    upsert("r-3", { subject: BOB }),
    upsert("r-2", { subject: BOB, relationship_type: "advisor" }),
  );
  const rows = [{ subject: ALICE, type: "employee" }] as const;
  assertEquals(plan(state, rows).unmanaged, 2);
  const all = plan(state, rows, { prune: true });
  assertEquals(all.changes.map((each) => each.relationship_id), ["r-2", "r-3"]);
  const scoped = plan(state, rows, { prune: true, types: ["employee"] });
  assertEquals(scoped.changes.map((each) => each.relationship_id), ["r-3"]);
  assertEquals(scoped.unmanaged, 1);
  const error = assertThrows(() =>
    plan(state, [{ subject: BOB, type: "advisor" }], { types: ["employee"] })
  );
  assert(isSigError(error, "invalid_field"));
});

Deno.test("10,000 rows are planned in one pass over each list", () => {
  const events = Array.from(
    { length: 10_000 },
    (_, at) => upsert(`r-${at}`, { subject: `did:web:p${at}.example` }),
  );
  const rows = events.map(({ subject }, at) => ({
    subject,
    type: "employee" as const,
    roles: at % 2 ? ["deploy"] : ["review"],
  }));
  const made = plan(published(...events), rows);
  assertEquals([made.changes.length, made.unchanged], [5_000, 5_000]);
});

Deno.test("a row of another type replaces the only relationship of its person", () => {
  const state = published(upsert("r-1", { roles: ["deploy"] }));
  const row = { subject: ALICE, type: "advisor", row: 2 } as const;
  const made = planChanges(state, [row]);
  const [change] = made.changes;
  assertEquals(
    [made.changes.length, made.unmanaged, change?.action, change?.fields],
    [1, 0, "update", ["type"]],
  );
  assertEquals(
    [change?.relationship_id, change?.after?.roles],
    ["r-1", ["deploy"]],
  );
  const drafts = planDrafts(made, state, "admin_action");
  assertEquals(drafts[0], {
    event_type: "relationship.revoke",
    relationship_id: "r-1",
    reason_code: "superseded",
  });
  assertEquals(
    drafts.slice(1).map(({ event_type, relationship_id }) => [
      event_type,
      relationship_id,
    ]),
    [["relationship.upsert", undefined]],
  );
  // As saved and read again; and nothing that only poses as one.
  const saved = JSON.parse(JSON.stringify(made));
  assertEquals(readPlan(saved, state).changes, made.changes);
  for (
    const wrong of [
      { relationship_id: "r-2" },
      { relationship_id: null },
      { action: "create", before: null },
      { action: "revoke", after: null },
    ]
  ) {
    const changes = [{ ...saved.changes[0], ...wrong }];
    assertThrows(() => readPlan({ ...saved, changes }, state));
  }
});

Deno.test("a row of another type is a second relationship where more than one could be meant", () => {
  const row = { subject: ALICE, type: "advisor", row: 2 } as const;
  const employee = upsert("r-1");
  const actions = (
    state: PublishedState,
    rows: readonly DesiredRelationship[],
    options: PlanOptions = {},
  ) => planChanges(state, rows, options).changes.map(({ action }) => action);
  const state = published(employee);
  assertEquals(actions(state, [row]), ["update"]);
  // Both are listed, or one has an identifier of its own.
  const listed = { subject: ALICE, type: "employee", row: 3 } as const;
  assertEquals(actions(state, [row, listed]), ["create"]);
  assertEquals(actions(state, [{ ...row, relationship_id: "r-9" }]), [
    "create",
  ]);
  // The list does not manage the other one.
  assertEquals(actions(state, [row], { types: ["advisor"] }), ["create"]);
  const two = published(
    employee,
    upsert("r-2", { relationship_type: "contractor" }),
  );
  assertEquals(actions(two, [row]), ["create"]);
});
