import type { Display, ErrorCode } from "@sig/core";
import { assertEquals } from "@std/assert";
import { planChanges as plan, type PlanOptions } from "./plan_changes.ts";
import type { RowIssue } from "./plan_faults.ts";
import { readPlan } from "./read_plan.ts";
import { doubtsAboutPlan } from "./plan_doubts.ts";
import { planDrafts } from "./plan_drafts.ts";
import type { PlannedChange } from "./planned_change.ts";
import { joinPeople, type PublishedState } from "./published.ts";
import * as kit from "../../tests/kit/events.ts";
import { assertSigError } from "../../tests/kit/sig_errors.ts";
import { eventsOf, KEYS, rowsOf } from "../testdata/plan_text.ts";
import { published } from "../testdata/published.ts";

const { alice: ALICE, bob: BOB } = KEYS;

/** Describes a change: `create alice type,from 2020-01-01`. */
function said(change: PlannedChange): string {
  const { action, after, fields, fills_gap, relationship_id, subject } = change;
  const [name] = Object.entries(KEYS).find(([, key]) => key === subject)!;
  const link = after?.metadata?.same_person_as;
  const members = fields.map((field) => {
    if (field === "metadata") return link === ALICE ? "link" : field;
    return field === "valid_from" ? `from ${after?.valid_from}` : field;
  });
  return [
    ...[action, relationship_id, name, members.join(), change.reason_code],
    change.listed_from && `not ${change.listed_from}`,
    fills_gap && `fills ${fills_gap.from} to ${fills_gap.until}`,
  ].filter(Boolean).join(" ").replaceAll("T00:00:00Z", "");
}

/** How a list is planned. */
interface How extends PlanOptions {
  /** The person of keys in the people file, if any; it begins at row 9. */
  readonly file?: Readonly<Record<string, string>>;
}

function stateOf(feed: string, { file = {} }: How = {}): PublishedState {
  const keys = Object.entries(file).map(([name, person], at) => ({
    ...{ subject: KEYS[name]!, person: person || undefined, row: at + 9 },
  }));
  return joinPeople(published(eventsOf(feed)), keys);
}

const now = new Date("2026-06-01T00:00:00Z");
const HIRED_LEFT = "r1 alice from=2020-01-01 | end r1";
/** Came back two days after the end, which is on 1 January 2026. */
const BACK = `${HIRED_LEFT} | r2 alice from=2026-01-03`;
const PAIR = "r1 alice | r2 phone";
const REPLACED = `${PAIR} | end r1`;
const FOUR = "dev1 alice | ops1 alice | dev2 phone | ops2 phone";
const TWO_PEOPLE = "r1 alice | r3 bob | r2 bob type=advisor";
/** A list with two keys of one person. */
const BOTH_KEYS =
  "alice person=17 roles=deploy from=2020-01-01 | new person=17 roles=deploy from=2020-01-01";

/** A feed, a list, and the planned changes. */
const PLANNED: Readonly<
  Record<string, readonly [feed: string, list: string, said: string, How?]>
> = {
  "another spelling of an instant or another order of roles is not a change": [
    "r1 alice roles=b,a from=2020-01-01",
    "alice roles=a,b,a from=2020-01-01T00:00:00.000Z",
    "",
  ],
  "a row without identifier is a new relationship if none is active": [
    "r1 alice | end r1",
    "alice roles=x",
    "create alice relationship_type,roles",
  ],
  "a row with the identifier of a revoked relationship re-activates it": [
    "r1 alice | end r1",
    "alice id=r1",
    "reactivate r1 alice",
  ],
  "a row of another type replaces the only relationship of its person": [
    "r1 alice",
    "alice type=advisor",
    "update r1 alice type",
  ],
  "another type is a second relationship if both are listed": [
    "r1 alice",
    "alice type=advisor | alice",
    "create alice relationship_type",
  ],
  "two other types are two more relationships": [
    "r1 alice",
    "alice type=advisor | alice type=contractor",
    "create alice relationship_type | create alice relationship_type",
  ],
  "another type is a second relationship if the row has an identifier": [
    "r1 alice",
    "alice type=advisor id=r9",
    "create r9 alice relationship_type",
  ],
  "another type is a second relationship if the list does not manage the old one":
    [
      "r1 alice",
      "alice type=advisor",
      "create alice relationship_type",
      { types: ["advisor"] },
    ],
  "another type is a second relationship if a key has several": [
    "r1 alice | r2 alice",
    "alice type=advisor",
    "create alice relationship_type",
  ],
  "another type is a second relationship if the keys have different types": [
    "r1 alice | r2 phone type=contractor",
    "alice type=advisor",
    "create alice relationship_type",
  ],
  "a row that names a further key puts its title on that key": [
    PAIR,
    "phone title=CTO",
    "update r2 phone title",
  ],
  "rows for each key may differ in their titles": [
    PAIR,
    "alice roles=a | phone roles=a title=CTO",
    "update r1 alice roles | update r2 phone roles,title",
  ],
  "the link is not a member that a list can take away": [
    PAIR,
    "phone metadata=none",
    "",
  ],
  "a row about a replaced key means the person's active key": [
    REPLACED,
    "alice type=advisor | alice",
    "create phone relationship_type",
  ],
  "a new identifier of a replaced key belongs to the person's active key": [
    REPLACED,
    "alice id=r9 | phone id=r2",
    "create r9 phone relationship_type",
  ],
  "a row with an identifier does not change a key with a row of its own": [
    PAIR,
    "alice person=1 type=contractor id=r1 | phone person=1 type=contractor",
    "update r1 alice relationship_type | create phone relationship_type",
  ],
  "naming one relationship changes each other key that has one": [
    PAIR,
    "alice id=r1 roles=ship",
    "update r1 alice roles | update r2 phone roles",
  ],
  "with a row for each relationship, every row changes its own": [
    FOUR,
    "alice id=dev1 roles=a | alice id=dev2 roles=a | alice id=ops1 roles=b | alice id=ops2 roles=b",
    "update dev1 alice roles | update dev2 phone roles | update ops1 alice roles | update ops2 phone roles",
  ],
  "a row about a person means the keys of the people file": [
    "r1 alice | r2 bob",
    "- person=2 roles=ship",
    "update r2 bob roles",
    { file: { bob: "2" } },
  ],
  "a row about a person means no key that was replaced": [
    REPLACED,
    "- person=1 type=advisor",
    "update r2 phone type",
    { file: { alice: "1", phone: "1" } },
  ],
  "two persons with one root in the feed are listed as they are": [
    PAIR,
    "alice person=1 | phone person=2",
    "",
    { file: { alice: "1", phone: "2" } },
  ],
  "a new key is linked to the root of the person's oldest key": [
    "r1 phone",
    "new",
    "create new relationship_type,link",
    { file: { phone: "1", new: "1" } },
  ],
  "a row about a person whose keys have all ended means these keys": [
    "r1 alice | end r1",
    "- person=1",
    "create alice relationship_type",
    { file: { alice: "1" } },
  ],
  "a row about a person means the key that another row names": [
    PAIR,
    "phone person=1 | - person=1",
    "revoke r1 alice superseded",
    { file: { alice: "1", phone: "1" } },
  ],
  "a row about a new key of a person adds it, and shares its roles": [
    "r0 alice | end r0 | r1 alice from=2020-01-01 title=CTO",
    "new roles=ship title=CEO",
    "create new relationship_type,roles,from 2026-06-01,title,link | update r1 alice roles",
    { file: { alice: "1", new: "1" }, now },
  ],
  "a row of another type about a new key adds it, and moves the other key": [
    "r1 alice",
    "new type=advisor",
    "create new relationship_type,link | update r1 alice type",
    { file: { alice: "1", new: "1" } },
  ],
  "rows that name a relationship of each key change their own": [
    PAIR,
    "alice id=r1 roles=a | phone id=r2 roles=b",
    "update r1 alice roles | update r2 phone roles",
  ],
  "a row with a person may be beside a new identifier of another key": [
    PAIR,
    "alice person=1 | phone person=1 id=r9",
    "create r9 phone relationship_type",
  ],
  "a row about a replaced key means all active keys of the person": [
    `${REPLACED} | r3 third`,
    "alice roles=ship",
    "update r2 phone roles | update r3 third roles",
  ],
  "a row of another type about a replaced key moves the active one": [
    REPLACED,
    "alice type=advisor",
    "update r2 phone type",
  ],
  "a row about a person means the keys that only the feed links, too": [
    PAIR,
    "- person=1 roles=ship",
    "update r1 alice roles | update r2 phone roles",
    { file: { alice: "1" } },
  ],
  "a new identifier of a new key belongs to this key": [
    "r1 alice",
    "new id=r9",
    "create r9 new relationship_type,link",
    { file: { alice: "1", new: "1" } },
  ],
  "the first key of a new person has no link, in no type": [
    "",
    "alice person=1 | alice person=1 type=advisor",
    "create alice relationship_type | create alice relationship_type",
  ],
  "a new identifier adds a relationship, and ends none": [
    "r1 alice",
    "alice id=r9",
    "create r9 alice relationship_type",
  ],
  "each key that the list has for a person moves to another type, a new one begins, and the others end":
    [
      PAIR,
      "new person=1 type=advisor | alice person=1 type=advisor",
      "create new relationship_type,link | revoke r2 phone superseded | update r1 alice type",
      { file: { alice: "1", phone: "1" } },
    ],
  "a list without --prune ends nothing": [TWO_PEOPLE, "alice", ""],
  "prune ends what the list lacks, by identifier": [
    TWO_PEOPLE,
    "alice",
    "revoke r2 bob | revoke r3 bob",
    { prune: true },
  ],
  "prune ends only the types that the list manages": [
    TWO_PEOPLE,
    "alice",
    "revoke r3 bob",
    { prune: true, types: ["employee"] },
  ],
  "a relationship that begins again begins when it is appended": [
    HIRED_LEFT,
    "alice from=2020-01-01",
    "create alice relationship_type,from 2026-06-01 not 2020-01-01",
    { now },
  ],
  "a re-activated relationship begins when it is appended": [
    HIRED_LEFT,
    "alice from=2020-01-01 id=r1",
    "reactivate r1 alice from 2026-06-01 not 2020-01-01",
    { now },
  ],
  "a re-activated relationship of another type, too": [
    "r1 alice type=contractor from=2020-01-01 | end r1",
    "alice from=2020-01-01 id=r1",
    "reactivate r1 alice relationship_type,from 2026-06-01 not 2020-01-01",
    { now },
  ],
  "a row without a date does not fill a gap either": [
    HIRED_LEFT,
    "alice",
    "create alice relationship_type,from 2026-06-01",
    { now },
  ],
  "a retroactive relationship keeps its start and names the gap that it fills":
    [
      HIRED_LEFT,
      "alice from=2020-01-01",
      "create alice relationship_type,from 2020-01-01 fills 2026-01-01 to 2026-06-01",
      { now, retroactive: true },
    ],
  "a person who moves back to an ended type begins when it is appended": [
    "r1 alice type=contractor | end r1 | r2 alice from=2020-01-01",
    "alice type=contractor",
    "update r2 alice type,from 2026-06-01 not 2020-01-01",
    { now },
  ],
  "a start before the end of another type is kept": [
    "r1 alice type=advisor | end r1 | r2 alice type=contractor",
    "alice from=2020-01-01 | alice type=contractor",
    "create alice relationship_type,from 2020-01-01",
    { now },
  ],
  "a start after the last end is kept": [
    HIRED_LEFT,
    "alice from=2026-03-01",
    "create alice relationship_type,from 2026-03-01",
    { now },
  ],
  "once a person came back, the earlier date of the list changes nothing": [
    BACK,
    "alice from=2020-01-01",
    "",
    { now },
  ],
  "once a person came back, a cleared date changes nothing": [
    BACK,
    "alice from=none",
    "",
    { now },
  ],
  "once a key was added, the earlier date of the list changes nothing": [
    "r1 alice from=2020-01-01 | r2 phone from=2026-01-02",
    "alice from=2020-01-01",
    "",
    { now },
  ],
  "a retroactive list moves the start of a person who came back": [
    BACK,
    "alice from=2020-01-01",
    "update r2 alice from 2020-01-01 fills 2026-01-01 to 2026-01-03",
    { now, retroactive: true },
  ],
  "a later date within a gap that was filled is a change": [
    "r1 alice | end r1 | r2 alice from=2020-01-01",
    "alice from=2021-01-01",
    "update r2 alice from 2021-01-01",
    { now },
  ],
  "a later date is a change": [
    BACK,
    "alice from=2026-05-01",
    "update r2 alice from 2026-05-01",
    { now },
  ],
  "what ended after a relationship began does not move its start": [
    "r1 alice from=2026-01-01 | r2 alice | end r2 | r1 alice from=2026-01-01",
    "alice from=2020-01-01",
    "update r1 alice from 2020-01-01",
    { now },
  ],
  "the keys that a list has for a person are all of them: one ends, another begins now, linked to the root":
    [
      "r1 alice from=2020-01-01 | r2 phone from=2020-01-01",
      BOTH_KEYS,
      "revoke r2 phone superseded | create new relationship_type,roles,from 2026-06-01,link not 2020-01-01",
      { now },
    ],
  "a retroactive list does not move the beginning of a further key": [
    "r0 alice | end r0 | r1 alice from=2020-01-01",
    BOTH_KEYS,
    "create new relationship_type,roles,from 2026-06-01,link not 2020-01-01",
    { now, retroactive: true },
  ],
  "of several new keys of a new person, only the first has the list's date": [
    "",
    BOTH_KEYS,
    "create alice relationship_type,roles,from 2020-01-01 | create new relationship_type,roles,from 2026-06-01,link not 2020-01-01",
    { now },
  ],
};

for (const [what, [feed, list, changes, how]] of Object.entries(PLANNED)) {
  Deno.test(what, () => {
    const state = stateOf(feed, how);
    const made = plan(state, rowsOf(list), how);
    assertEquals(made.changes.map(said).join(" | "), changes);
    // A saved plan publishes the same.
    const saved = JSON.parse(JSON.stringify(made));
    const [drafts, read] = [made, readPlan(saved, state, how?.now)]
      .map((each) => planDrafts(each, state, "other"));
    assertEquals(read, drafts);
  });
}

Deno.test("drafts keep what a row does not contain: date, department, other display, visibility", () => {
  const members = {
    ...{ valid_until: "2027-01-01T00:00:00Z", metadata: { cost: 1 } },
    ...{ visibility: "private" as const, reason: "ticket 7" },
  };
  const display = { title: "Engineer", department: "Ops", badge: 7 };
  const drafts = (row: string, display: Display) => {
    const event = { relationship_id: "r1", ...members, display };
    const state = published([kit.upsert(1, event)]);
    return planDrafts(plan(state, rowsOf(row)), state, "other");
  };
  const begun = {
    ...{ event_type: "relationship.upsert" as const, subject: ALICE! },
    ...{ relationship_type: "employee" as const, roles: ["deploy"] },
    ...{ valid_from: null, ...members },
  };
  const kept = { ...begun, relationship_id: "r1" };
  const roles = ["deploy", "review"];
  assertEquals(drafts("alice roles=deploy,review", display), [
    { ...kept, roles, display },
  ]);
  // An empty cell clears the member.
  const { title: _, ...rest } = display;
  assertEquals(drafts("alice until=none title=none", display), [
    { ...kept, valid_until: null, display: rest },
  ]);
  assertEquals(drafts("alice title=none", { title: "Engineer" }), [
    { ...kept, display: null },
  ]);
  const other = stateOf("r1 alice");
  const update = plan(other, rowsOf("alice roles=a"));
  assertSigError(
    () => planDrafts(update, stateOf(""), "other"),
    "plan_outdated",
    'Cannot apply plan: the feed has no relationship "r1"',
  );
  // A key that another one replaces is not revoked for the list's reason.
  const pair = stateOf(PAIR);
  const replaced = rowsOf("alice person=1 | new person=1");
  assertEquals(planDrafts(plan(pair, replaced), pair, "other")[0], {
    event_type: "relationship.revoke",
    relationship_id: "r2",
    reason_code: "superseded",
  });
  // Another type ends the relationship, and begins another one.
  assertEquals(drafts("alice type=advisor", display), [
    {
      event_type: "relationship.revoke",
      relationship_id: "r1",
      reason_code: "superseded",
    },
    { ...begun, relationship_type: "advisor", display },
  ]);
});

/** Asserts that a list is refused, with this code and message. */
function refused(
  ...[feed, list, code, message, how]: readonly [
    feed: string,
    list: string,
    code: ErrorCode,
    message: string,
    How?,
  ]
) {
  const state = stateOf(feed, how);
  const words = `Cannot plan: ${message}`;
  return assertSigError(() => plan(state, rowsOf(list), how), code, words);
}

const SECOND = [
  "ambiguous_relationship",
  'row 2: another row gives "did:web:alice.example" a second relationship of type employee',
] as const;
const NAMED = "alice roles=a | alice roles=a id=r2";
const OTHER_PERSON = 'not of "2"; a list does not move keys between people';

/** Lists that are refused, and why. */
const REFUSED: Readonly<Record<string, Parameters<typeof refused>>> = {
  "of a person with two active relationships of its type": [
    "r1 alice | r2 alice",
    "alice",
    "ambiguous_relationship",
    'row 2: "did:web:alice.example" has 2 active relationships of type employee: "r1", "r2"',
  ],
  "that names the relationship which another one means": [
    "r1 alice",
    "alice roles=a | alice roles=b id=r1",
    "invalid_field",
    "row 3: it is about the same relationship as row 2, and says otherwise (roles)",
  ],
  "without a subject or a person": [
    "",
    "-",
    "invalid_field",
    "row 2: the row has neither a subject nor a person",
  ],
  "about another key with other columns": [
    PAIR,
    "alice | phone roles=deploy",
    "invalid_field",
    "row 3: it is about another key of the same person as row 2, and says otherwise (other columns)",
  ],
  // A row without identifier is still checked if it equals another row.
  "beside a second one that means the only relationship": [
    "r1 alice",
    "alice id=r1 | alice id=r2 | alice",
    ...SECOND,
  ],
  "beside one with an identifier, in an empty feed": ["", NAMED, ...SECOND],
  "beside one with another identifier": ["r1 alice", NAMED, ...SECOND],
  "beside one with an identifier that is revoked": [
    "r2 alice | end r2",
    NAMED,
    ...SECOND,
  ],
  "beside one with an identifier of another key": [
    PAIR,
    "alice roles=a | phone roles=a id=r2",
    ...SECOND,
  ],
  "beside one that makes another key of its person active again": [
    REPLACED,
    "- person=1 | alice id=r1",
    ...SECOND,
    { file: { alice: "1", phone: "1" } },
  ],
  "beside one that changes the type of another relationship": [
    "r1 alice | r2 alice type=advisor",
    NAMED,
    ...SECOND,
  ],
  "that differs from another one, if both could apply to a third key of the person":
    [
      "r1 alice | r2 phone | r3 third",
      "alice roles=a id=r1 | alice roles=b id=r2",
      "ambiguous_relationship",
      'row 3: several rows are about the person of "did:key:third" and differ, so that "r3" could become either',
    ],
  "that names one relationship of a person whose other key has several": [
    FOUR,
    "alice id=dev1 roles=ship",
    "ambiguous_relationship",
    'row 2: "dev1" is one relationship of a person whose key "did:key:phone" has 2 of this type: "dev2", "ops2"',
  ],
  "that names one relationship of a person, if another row adds a second one to the other key":
    [
      PAIR,
      "alice id=r1 | phone id=r9",
      "ambiguous_relationship",
      'row 2: "r1" is one relationship of a person whose key "did:key:phone" has 1 of this type: "r2"',
    ],
  "that takes a relationship of a type outside of the list by its name": [
    "r1 alice",
    "alice type=advisor id=r1",
    "invalid_field",
    'row 2: type "employee" is outside of what this list manages (advisor)',
    { types: ["advisor"] },
  ],
  "of a type outside of the list": [
    "r1 alice",
    "bob type=advisor",
    "invalid_field",
    'row 2: type "advisor" is outside of what this list manages (employee)',
    { types: ["employee"] },
  ],
  "with a key of another row's person": [
    "",
    "alice person=1 | alice person=2",
    "invalid_field",
    `row 3: the key "did:web:alice.example" is of person "1" (row 2 of the list), ${OTHER_PERSON}`,
  ],
  "with a key of another person of the people file": [
    "",
    "alice person=2",
    "invalid_field",
    `row 2: the key "did:web:alice.example" is of person "1" (row 9 of the people file), ${OTHER_PERSON}`,
    { file: { alice: "1" } },
  ],
  "with a key that the feed links to another person": [
    PAIR,
    "phone person=2",
    "invalid_field",
    `row 2: the key "did:key:phone" is of person "1" (same_person_as in the feed), ${OTHER_PERSON}`,
    { file: { alice: "1" } },
  ],
  "with a linked key that the people file has without a person": [
    PAIR,
    "phone person=2",
    "invalid_field",
    `row 2: the key "did:key:phone" is of person "1" (same_person_as in the feed), ${OTHER_PERSON}`,
    { file: { alice: "1", phone: "" } },
  ],
  "with one key of a person and the relationship of another": [
    PAIR,
    "alice person=1 id=r2",
    "invalid_field",
    'row 2: relationship "r2" is about "did:key:phone", and keeps its subject',
  ],
  "about another key of a person with other roles": [
    "",
    "alice person=1 roles=a | phone person=1 roles=b",
    "invalid_field",
    "row 3: it is about another key of the same person as row 2, and says otherwise (roles)",
  ],
  "about a person that names the relationship of another one": [
    "r1 alice",
    "- person=2 id=r1",
    "invalid_field",
    'row 2: relationship "r1" is about "did:web:alice.example", which is not a key of person "2"',
    { file: { bob: "2" } },
  ],
  "with a key that can't be linked to its person": [
    "r1 alice | r2 bob person=did:key:new",
    "alice person=1 | new person=1",
    "invalid_field",
    'row 3: the key "did:key:new" can\'t be linked to "did:web:alice.example": the feed has it as another person',
  ],
};

for (const [what, given] of Object.entries(REFUSED)) {
  Deno.test(`refuses a row ${what}`, () => void refused(...given));
}

Deno.test("counts equal rows once, and reports all faults", () => {
  const { changes } = plan(stateOf(""), rowsOf("bob roles=x | bob roles=x"));
  assertEquals(changes.length, 1);
  const { context } = refused(
    "r1 alice",
    "bob roles=x | bob roles=y | bob id=r1 | alice from=2026-02-01 until=2026-01-01",
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

Deno.test("a person without a key waits, and a person who is not in the list, or whose relationship has expired, is named", () => {
  const feed =
    "r1 alice until=2026-01-02 | r2 bob | r3 new until=2026-01-02 | r4 alice type=advisor";
  const state = stateOf(feed, { file: { bob: "2" } });
  const made = plan(state, rowsOf("- person=3 | alice"), { now });
  assertEquals([made.changes, made.unchanged, made.unmanaged], [[], 1, 3]);
  const valid_until = "2026-01-02T00:00:00Z";
  assertEquals(made.expired, [
    { relationship_id: "r1", subject: ALICE!, valid_until, row: 3 },
  ]);
  assertEquals(made.waiting, [{ person: "3", name: null, row: 2 }]);
  assertEquals(made.unlisted, [
    { person: "2", name: null, subject: BOB!, roles: ["deploy"] },
  ]);
});

Deno.test("doubts people who are one for the file, and another number for the feed", () => {
  const doubts = (file: Readonly<Record<string, string>>) => {
    const state = stateOf("r1 alice | r2 phone | r3 bob", { file });
    return doubtsAboutPlan(plan(state, []), state, now);
  };
  assertEquals(doubts({ alice: "1", phone: "2", bob: "3" }), [
    `the persons "1", "2" have one root in the feed, ${ALICE}: they count as one person`,
  ]);
  assertEquals(doubts({ alice: "1", bob: "1" }), [
    `the person "1" has 2 roots in the feed, ${ALICE}, ${BOB}: a login sees 2 people`,
  ]);
});

Deno.test("doubts a name that looks like another one of the same list", () => {
  const list = ["deploy", "Deploy"].map((role, at) => ({
    ...{ subject: `did:web:${at === 0 ? "a" : "A"}.example`, roles: [role] },
    ...{ type: "employee" as const, row: at + 2 },
  }));
  const state = published([]);
  const alike =
    "in case or in characters that are not visible; checks compare exactly";
  assertEquals(doubtsAboutPlan(plan(state, list), state, now), [
    `row 3: the subject "did:web:A.example" differs from "did:web:a.example" ${alike}`,
    `row 3: the role "Deploy" differs from "deploy" ${alike}`,
  ]);
});
