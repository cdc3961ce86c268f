import type { ErrorCode, RelationshipUpsertEvent, SigEvent } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import type { DesiredRelationship } from "./members.ts";
import { planChanges as plan, type PlanOptions } from "./plan_changes.ts";
import type { RowIssue } from "./plan_faults.ts";
import { doubtsAboutPlan } from "./plan_doubts.ts";
import { planDrafts } from "./plan_drafts.ts";
import { joinPeople, type PublishedState } from "./published.ts";
import * as kit from "../../tests/kit/events.ts";
import { ALICE } from "../../tests/kit/events.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { published as publishedOf } from "../testdata/published.ts";

const BOB = "did:web:bob.example";

const upsert = (
  relationship_id: string,
  members: Partial<RelationshipUpsertEvent> = {},
) => kit.upsert(1, { relationship_id, ...members });
const revoke = (relationship_id: string) => kit.revoke(1, { relationship_id });
const published = (...events: SigEvent[]) => publishedOf(events);

/** Asserts that the rows are refused, with this code and message. */
function refused(
  state: PublishedState,
  rows: readonly DesiredRelationship[],
  code: ErrorCode,
  message: string,
  options?: PlanOptions,
) {
  const words = `Cannot plan: ${message}`;
  return assertSigError(() => plan(state, rows, options), code, words);
}

Deno.test("keeps members that a row does not contain: date, department, other display, visibility", () => {
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

Deno.test("an empty cell clears the member, which is a change", () => {
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

Deno.test("another spelling of an instant or another order of roles is not a change", () => {
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

const IS_ALICE = { subject: ALICE, type: "employee" } as const;
const ADVISOR = { subject: ALICE, type: "advisor" } as const;
const PHONE = "did:key:phone";
const IS_PHONE = { subject: PHONE, type: "employee" } as const;
const LINK = { metadata: { same_person_as: ALICE } };
const NOW = new Date("2026-06-01T00:00:00Z");
const HIRED = "2020-01-01T00:00:00Z";
const EMPLOYEE = upsert("r-1");
const OF_PHONE = upsert("r-2", { subject: PHONE, ...LINK });
const PAIR = [EMPLOYEE, OF_PHONE];
const LEFT = [EMPLOYEE, revoke("r-1")];
/** The first key was replaced. */
const REPLACED = [EMPLOYEE, OF_PHONE, revoke("r-1")];
const CONTRACTOR = { relationship_type: "contractor" } as const;
const TO_CONTRACTOR = { person: "1", type: "contractor" } as const;

/** The events of a feed, the rows of a list, and the planned changes. */
const PLANNED: Readonly<
  Record<
    string,
    readonly [
      events: readonly SigEvent[],
      rows: readonly DesiredRelationship[],
      planned: readonly string[],
      options?: PlanOptions,
    ]
  >
> = {
  "a row without identifier is a new relationship if none is active": [
    LEFT,
    [{ ...IS_ALICE, roles: ["x"] }],
    [`create null ${ALICE} relationship_type,roles`],
  ],
  "a row with the identifier of a revoked relationship re-activates it": [
    LEFT,
    [{ ...IS_ALICE, relationship_id: "r-1" }],
    [`reactivate r-1 ${ALICE} `],
  ],
  "another type is a second relationship if both are listed": [
    [EMPLOYEE],
    [ADVISOR, IS_ALICE],
    [`create null ${ALICE} relationship_type`],
  ],
  "another type is a second relationship if the row has an identifier": [
    [EMPLOYEE],
    [{ ...ADVISOR, relationship_id: "r-9" }],
    [`create r-9 ${ALICE} relationship_type`],
  ],
  "another type is a second relationship if the list does not manage the old one":
    [
      [EMPLOYEE],
      [ADVISOR],
      [`create null ${ALICE} relationship_type`],
      { types: ["advisor"] },
    ],
  "another type is a second relationship if a key has several": [
    [EMPLOYEE, upsert("r-2")],
    [ADVISOR],
    [`create null ${ALICE} relationship_type`],
  ],
  "another type is a second relationship if the keys have different types": [
    [EMPLOYEE, upsert("r-2", { subject: PHONE, ...LINK, ...CONTRACTOR })],
    [ADVISOR],
    [`create null ${ALICE} relationship_type`],
  ],
  "a row that names a further key puts its title on that key": [
    PAIR,
    [{ ...IS_PHONE, title: "CTO" }],
    [`update r-2 ${PHONE} title`],
  ],
  "rows for each key may differ in their titles": [
    PAIR,
    [{ ...IS_ALICE, roles: ["a"] }, {
      ...IS_PHONE,
      roles: ["a"],
      title: "CTO",
    }],
    [`update r-1 ${ALICE} roles`, `update r-2 ${PHONE} roles,title`],
  ],
  "the link is not a member that a list can take away": [
    PAIR,
    [{ ...IS_PHONE, metadata: null }],
    [],
  ],
  "a row about a replaced key means the person's active key": [
    REPLACED,
    [ADVISOR, IS_ALICE],
    [`create null ${PHONE} relationship_type`],
  ],
  "a new identifier of a replaced key belongs to the person's active key": [
    REPLACED,
    [{ ...IS_ALICE, relationship_id: "r-9" }, {
      ...IS_PHONE,
      relationship_id: "r-2",
    }],
    [`create r-9 ${PHONE} relationship_type`],
  ],
  "a row with an identifier does not change a key with a row of its own": [
    PAIR,
    [
      { ...IS_ALICE, ...TO_CONTRACTOR, relationship_id: "r-1" },
      { ...IS_PHONE, ...TO_CONTRACTOR },
    ],
    [
      `update r-1 ${ALICE} relationship_type`,
      `create null ${PHONE} relationship_type`,
    ],
  ],
  "a row about a person means no key that was replaced": [
    REPLACED,
    [{ person: "1", type: "advisor" }],
    [`update r-2 ${PHONE} type`],
  ],
};

for (
  const [what, [events, rows, planned, options]] of Object.entries(PLANNED)
) {
  Deno.test(what, () => {
    const file = what.includes("about a person")
      ? [ALICE, PHONE].map((subject) => ({ subject, person: "1" }))
      : [];
    const state = joinPeople(published(...events), file);
    assertEquals(
      plan(state, rows, options).changes.map((each) =>
        `${each.action} ${each.relationship_id} ${each.subject} ${each.fields}`
      ),
      planned,
    );
  });
}

Deno.test("counts equal rows once, refuses contradicting rows, and reports all faults", () => {
  const state = published(upsert("r-1"));
  const row = { subject: BOB, type: "advisor", roles: ["x"] } as const;
  assertEquals(plan(state, [row, { ...row, row: 3 }]).changes.length, 1);
  const { context } = refused(
    state,
    [
      { ...row, row: 2 },
      { ...row, roles: ["y"], row: 3 },
      { subject: BOB, type: "employee", relationship_id: "r-1", row: 4 },
      {
        ...{ subject: ALICE, type: "employee", row: 5 },
        valid_from: "2026-02-01T00:00:00Z",
        valid_until: "2026-01-01T00:00:00Z",
      },
    ],
    "invalid_field",
    "row 3: it is about the same relationship as row 2, and says otherwise (roles)",
  );
  const places = (context.errors ?? []) as readonly unknown[] as RowIssue[];
  assertEquals(places.map(({ row, column }) => [row, column]), [
    [3, "roles"],
    [4, "subject"],
    [5, "valid_until"],
  ]);
});

for (
  const [what, state, rows, code, message, options] of [
    [
      "of a person with two active relationships of its type",
      published(upsert("r-1"), upsert("r-2")),
      [{ ...IS_ALICE, row: 4 }],
      "ambiguous_relationship",
      'row 4: "did:web:alice.example" has 2 active relationships of type employee: "r-1", "r-2"',
    ],
    [
      "that names the relationship which another one means",
      published(upsert("r-1")),
      [
        { ...IS_ALICE, roles: ["a"], row: 2 },
        { ...IS_ALICE, roles: ["b"], relationship_id: "r-1", row: 3 },
      ],
      "invalid_field",
      "row 3: it is about the same relationship as row 2, and says otherwise (roles)",
    ],
    [
      "about another key with other columns",
      published(...PAIR),
      [{ ...IS_ALICE, row: 2 }, { ...IS_PHONE, roles: ["deploy"], row: 3 }],
      "invalid_field",
      "row 3: it is about another key of the same person as row 2, and says otherwise (other columns)",
    ],
    // A row without identifier is still checked if it equals another row.
    [
      "beside a second one that means the only relationship",
      published(upsert("r-1")),
      [
        { ...IS_ALICE, relationship_id: "r-2", row: 2 },
        { ...IS_ALICE, relationship_id: "r-1", row: 3 },
        { ...IS_ALICE, row: 4 },
      ],
      "ambiguous_relationship",
      'row 3: another row gives "did:web:alice.example" a second relationship of type employee',
    ],
    [
      "that differs from another one, if both could apply to a third key of the person",
      published(
        upsert("r-1"),
        ...["2", "3"].map((n) =>
          upsert(`r-${n}`, {
            subject: `did:key:k${n}`,
            metadata: { same_person_as: ALICE },
          })
        ),
      ),
      [
        { ...IS_ALICE, roles: ["a"], relationship_id: "r-1", row: 2 },
        { ...IS_ALICE, roles: ["b"], relationship_id: "r-2", row: 3 },
      ],
      "ambiguous_relationship",
      'row 3: several rows are about the person of "did:key:k3" and differ, so that "r-3" could become either',
    ],
    [
      "that takes a relationship of a type outside of the list by its name",
      published(upsert("r-1")),
      [{ subject: ALICE, type: "advisor", relationship_id: "r-1", row: 2 }],
      "invalid_field",
      'row 2: type "employee" is outside of what this list manages (advisor)',
      { types: ["advisor"] },
    ],
    [
      "of a type outside of the list",
      published(upsert("r-1")),
      [{ subject: BOB, type: "advisor" }],
      "invalid_field",
      'type "advisor" is outside of what this list manages (employee)',
      { types: ["employee"] },
    ],
  ] as readonly (readonly [string, ...Parameters<typeof refused>])[]
) {
  Deno.test(`refuses a row ${what}`, () => {
    refused(state, rows, code, message, options);
  });
}

Deno.test("refuses a row for a second relationship next to a row without identifier", () => {
  const means = { ...IS_ALICE, roles: ["a"], row: 2 };
  const other = upsert("r-2", { relationship_type: "advisor" });
  for (
    const events of [
      [],
      [upsert("r-1")],
      [upsert("r-1"), other],
      [upsert("r-2"), revoke("r-2")],
    ]
  ) {
    refused(
      published(...events),
      [means, { ...means, relationship_id: "r-2", row: 3 }],
      "ambiguous_relationship",
      'row 2: another row gives "did:web:alice.example" a second relationship of type employee',
    );
  }
});

Deno.test("manages only the listed types; prune revokes unlisted relationships of these types", () => {
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
});

Deno.test("a row of another type replaces the only relationship of its person", () => {
  const state = published(upsert("r-1", { roles: ["deploy"] }));
  const row = { subject: ALICE, type: "advisor", row: 2 } as const;
  const made = plan(state, [row]);
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
});

Deno.test("a relationship that begins again begins when it is appended, unless retroactive, and then names the gap", () => {
  const state = published(upsert("r-1", { valid_from: HIRED }), revoke("r-1"));
  for (const relationship_id of [undefined, "r-1"]) {
    const row = { ...IS_ALICE, relationship_id, valid_from: HIRED };
    const [change] = plan(state, [row], { now: NOW }).changes;
    assertEquals(
      [change?.after?.valid_from, change?.listed_from],
      ["2026-06-01T00:00:00Z", HIRED],
    );
    const [kept] = plan(state, [row], { now: NOW, retroactive: true }).changes;
    assertEquals([kept?.after?.valid_from, kept?.listed_from], [
      HIRED,
      undefined,
    ]);
    assertEquals(kept?.fills_gap, {
      from: "2026-01-01T00:00:00Z",
      until: "2026-06-01T00:00:00Z",
    });
    // A start after the last end is kept.
    const later = { ...row, valid_from: "2026-03-01T00:00:00Z" };
    assertEquals(
      plan(state, [later], { now: NOW }).changes[0]?.after?.valid_from,
      "2026-03-01T00:00:00Z",
    );
  }
  // A row without a date may not fill the gap either.
  const [none] = plan(state, [IS_ALICE], { now: NOW }).changes;
  assertEquals(none?.after?.valid_from, "2026-06-01T00:00:00Z");
});

Deno.test("once somebody came back, or a key was added, the earlier date of the list changes nothing", () => {
  const back = published(
    upsert("r-1", { valid_from: HIRED }),
    revoke("r-1"),
    upsert("r-2", { valid_from: "2026-01-03T00:00:00Z" }),
  );
  const further = published(
    upsert("r-1", { valid_from: HIRED }),
    upsert("r-2", {
      ...{ subject: PHONE, valid_from: "2026-01-02T00:00:00Z" },
      ...LINK,
    }),
  );
  const row = { ...IS_ALICE, valid_from: HIRED };
  for (const state of [back, further]) {
    assertEquals(plan(state, [row], { now: NOW }).changes, []);
    const nulled = { ...row, valid_from: null };
    const { changes } = plan(back, [nulled], { now: NOW });
    assertEquals(changes, []);
  }
  const { changes } = plan(back, [row], { now: NOW, retroactive: true });
  assertEquals(
    [changes[0]?.after?.valid_from, changes[0]?.fills_gap],
    [HIRED, { from: "2026-01-01T00:00:00Z", until: "2026-01-03T00:00:00Z" }],
  );
  // What ended after this relationship began does not matter.
  const other = published(
    upsert("r-1", { valid_from: "2026-01-01T00:00:00Z" }),
    upsert("r-2"),
    revoke("r-2"),
  );
  assertEquals(plan(other, [row], { now: NOW }).changes.length, 1);
  // A later date is a change.
  const later = { ...row, valid_from: "2026-05-01T00:00:00Z" };
  assertEquals(plan(back, [later], { now: NOW }).changes.length, 1);
});

Deno.test("the keys that a list has for a person are all of them: one ends, another begins now, linked to the root", () => {
  const state = published(
    upsert("r-1", { valid_from: HIRED }),
    upsert("r-2", { subject: PHONE, valid_from: HIRED, ...LINK }),
  );
  const list = [ALICE, "did:key:new"].map((subject, at) => ({
    ...{ person: "17", subject, type: "employee" as const, row: at + 2 },
    ...{ roles: ["deploy"], valid_from: HIRED },
  }));
  const { changes } = plan(state, list, { now: NOW });
  assertEquals(
    changes.map((each) => [each.action, each.subject, each.row]),
    [["revoke", PHONE, 2], ["create", "did:key:new", 3]],
  );
  assertEquals(changes[0]?.reason_code, "superseded");
  assertEquals(changes[1]?.after?.metadata, { same_person_as: ALICE });
  assertEquals(changes[1]?.after?.valid_from, "2026-06-01T00:00:00Z");
  // A retroactive list does not move the beginning of a further key.
  const again = published(upsert("r-0"), revoke("r-0"), upsert("r-1"));
  const retroactive = plan(again, list, { now: NOW, retroactive: true });
  assertEquals(
    retroactive.changes.at(-1)?.after?.valid_from,
    "2026-06-01T00:00:00Z",
  );
  // Several new keys of a new person are linked too, and only the first one has
  // the list's date.
  const fresh = plan(published(), list, { now: NOW }).changes;
  assertEquals(
    fresh.map(({ after }) => [after?.valid_from, after?.metadata]),
    [
      [HIRED, null],
      ["2026-06-01T00:00:00Z", { same_person_as: ALICE }],
    ],
  );
});

Deno.test("refuses keys of another person, with both rows, and keys that differ", () => {
  const row = { type: "employee", roles: ["a"] } as const;
  const key = (person: string, subject: string, more = {}) => ({
    ...{ ...row, person, subject, ...more },
  });
  const linked = published(
    upsert("r-1"),
    upsert("r-2", { subject: PHONE, ...LINK }),
  );
  const file = [{ subject: ALICE, person: "1", row: 9 }];
  for (
    const [state, rows, message] of [
      [
        published(),
        [key("1", ALICE, { row: 2 }), key("2", ALICE, { row: 3 })],
        'row 3: the key "did:web:alice.example" is of person "1" (row 2 of the list), not of "2"; a list does not move keys between people',
      ],
      [
        joinPeople(published(), file),
        [key("2", ALICE, { row: 2 })],
        'row 2: the key "did:web:alice.example" is of person "1" (row 9 of the people file), not of "2"; a list does not move keys between people',
      ],
      [
        joinPeople(linked, file),
        [key("2", PHONE, { row: 2 })],
        'row 2: the key "did:key:phone" is of person "1" (same_person_as in the feed), not of "2"; a list does not move keys between people',
      ],
      [
        published(),
        [
          key("1", ALICE, { row: 2 }),
          key("1", PHONE, { row: 3, roles: ["b"] }),
        ],
        "row 3: it is about another key of the same person as row 2, and says otherwise (roles)",
      ],
      [
        joinPeople(published(upsert("r-1")), [{ subject: BOB, person: "2" }]),
        [{ ...row, person: "2", relationship_id: "r-1", row: 2 }],
        'row 2: relationship "r-1" is about "did:web:alice.example", which is not a key of person "2"',
      ],
      [
        published(
          upsert("r-1"),
          upsert("r-2", { subject: BOB, metadata: { same_person_as: PHONE } }),
        ),
        [key("1", ALICE, { row: 2 }), key("1", PHONE, { row: 3 })],
        'row 3: the key "did:key:phone" can\'t be linked to "did:web:alice.example": the feed has it as another person',
      ],
    ] as const
  ) refused(state, rows, "invalid_field", message);
});

Deno.test("a person without a key waits, and a person who is not in the list is named", () => {
  const state = joinPeople(
    published(upsert("r-1"), upsert("r-2", { subject: BOB })),
    [
      { subject: BOB, person: "2", name: "Bob" },
    ],
  );
  const made = plan(state, [
    { person: "3", name: "Carol", type: "employee", row: 2 },
    { subject: ALICE, type: "employee", row: 3 },
  ], { now: NOW });
  assertEquals(made.changes, []);
  assertEquals(made.waiting, [{ person: "3", name: "Carol", row: 2 }]);
  assertEquals(made.unlisted, [
    { person: "2", name: "Bob", subject: BOB, roles: ["deploy"] },
  ]);
  // By the person alone, the keys of the people file are meant.
  const listed = plan(state, [
    { person: "2", type: "employee", roles: ["ship"], row: 2 },
  ], { now: NOW });
  assertEquals(listed.changes.map(({ subject }) => subject), [BOB]);
});

Deno.test("naming one relationship is refused where another key has several, and changes each other key that has one", () => {
  const one = [upsert("dev-1"), upsert("dev-2", { subject: PHONE, ...LINK })];
  const named = { ...IS_ALICE, relationship_id: "dev-1", roles: ["ship"] };
  assertEquals(
    plan(published(...one), [named]).changes.map((each) =>
      each.relationship_id
    ),
    ["dev-1", "dev-2"],
  );
  const two = [...one, upsert("ops-1"), upsert("ops-2", { subject: PHONE })];
  const { context } = refused(
    published(...two),
    [{ ...named, row: 2 }],
    "ambiguous_relationship",
    'row 2: "dev-1" is one relationship of a person whose key "did:key:phone" has 2 of this type: "dev-2", "ops-2"',
  );
  assertEquals(
    context.hint,
    "To change it alone, use sig upsert --relationship-id dev-1. To change the person, name all of these relationships in a list (column relationship_id).",
  );
  // With a row for each, every row changes its own relationship.
  const rows = ["dev-1", "dev-2", "ops-1", "ops-2"].map((relationship_id) => ({
    ...{ ...IS_ALICE, relationship_id },
    roles: [relationship_id.slice(0, 3)],
  }));
  assertEquals(plan(published(...two), rows).changes.length, 4);
});

Deno.test("doubts a name that looks like another one of the same list", () => {
  const list = ["did:web:a.example", "did:web:A.example"].map((
    subject,
    at,
  ) => ({
    ...{ subject, type: "employee" as const, row: at + 2 },
    roles: [at === 0 ? "deploy" : "Deploy"],
  }));
  const state = published();
  const alike =
    "in case or in characters that are not visible; checks compare exactly";
  assertEquals(doubtsAboutPlan(plan(state, list), state, NOW), [
    `row 3: the subject "did:web:A.example" differs from "did:web:a.example" ${alike}`,
    `row 3: the role "Deploy" differs from "deploy" ${alike}`,
  ]);
});
