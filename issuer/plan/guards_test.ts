import {
  isSigError,
  type ReasonCode,
  type RelationshipUpsertEvent,
  type SigEvent,
} from "@sig/core";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { PersonKey } from "@sig/issuer/people";
import type { EventDraft, UpsertDraft } from "../append/draft.ts";
import { type GuardOptions, requireGuards } from "./guards.ts";
import { planChanges } from "./plan_changes.ts";
import * as kit from "../../tests/kit/events.ts";
import { eventsOf, KEYS } from "../testdata/plan_text.ts";
import { published } from "../testdata/published.ts";
import { joinPeople } from "./published.ts";

// promise: Access for or from many people, counted by what `check` would
//   answer, needs a confirmation.

const NOW = new Date("2026-06-01T00:00:00Z");
const PAST = "2026-01-01T00:00:00Z";
const FUTURE = "2062-01-01T00:00:00Z";

const person = (n: number) => `did:web:p${n}.example`;

type Members = Partial<RelationshipUpsertEvent>;

const upsert = (relationship_id: string, members: Members = {}) =>
  kit.upsert(1, { relationship_id, subject: person(0), ...members });

const revoke = (
  { relationship_id, subject }: SigEvent,
  reason_code: ReasonCode = "employment_ended",
) => kit.revoke(1, { relationship_id, subject, reason_code });

function draft(id: string | undefined, members: Members = {}): EventDraft {
  return {
    event_type: "relationship.upsert",
    subject: person(0),
    relationship_type: "employee",
    roles: ["deploy"],
    ...(id === undefined ? {} : { relationship_id: id }),
    ...members,
  } as EventDraft;
}

const ending = (relationship_id: string): EventDraft => ({
  event_type: "relationship.revoke",
  relationship_id,
  reason_code: "admin_action",
});

function passes(
  events: readonly SigEvent[],
  drafts: readonly EventDraft[],
  options: Partial<GuardOptions> = {},
  keys: readonly PersonKey[] = [],
): void {
  const state = joinPeople(published(events), keys);
  requireGuards(state, drafts, { now: NOW, ...options });
}

function refused(...of: Parameters<typeof passes>) {
  const error = assertThrows(() => passes(...of));
  assert(isSigError(error, "confirmation_required"));
  return error;
}

/** Upserts of people with one relationship each: `r0`, `r1`, and so on. */
const people = (count: number, members: Members = {}) =>
  Array.from(
    { length: count },
    (_, n) => upsert(`r${n}`, { subject: person(n), ...members }),
  );

function of(n: number, members: Members = {}): Members {
  return { subject: person(n), ...members };
}

const changed = (members: Members) => (n: number) =>
  draft(`r${n}`, of(n, members));
const SOON = { valid_until: "2027-01-01T00:00:00Z" };

/** The flag of each confirmation, and what is confirmed. */
const CONFIRMED = {
  losses: ["losses", "6 of 10 people would lose access"],
  grants: ["grants", "6 people would gain access, 10 have it now"],
  publicTexts: [
    "public",
    "the published title, department, label or metadata of 6 people would change",
  ],
} as const;

const COUNTED: readonly (readonly [
  what: string,
  keyof typeof CONFIRMED,
  make: (n: number) => EventDraft,
  had?: Members,
])[] = [
  ["revoked", "losses", (n) => ending(`r${n}`)],
  ["ended in the past", "losses", changed({ valid_until: PAST })],
  ["moved to 2062", "losses", changed({ valid_from: FUTURE })],
  ["without roles", "losses", changed({ roles: [] })],
  ["created", "grants", (n) => draft(undefined, of(100 + n))],
  ["with another role", "grants", changed({ roles: ["admin", "deploy"] })],
  ["ending later", "grants", changed({ valid_until: FUTURE }), SOON],
  ["without an end", "grants", changed({ valid_until: null }), SOON],
  ["with a title", "publicTexts", changed({ display: { title: "New" } })],
  [
    "with a department",
    "publicTexts",
    changed({ display: { department: "" } }),
  ],
  ["with a label", "publicTexts", changed({ display: { label: "New" } })],
  ["with metadata", "publicTexts", changed({ metadata: { cost: 1 } })],
];

for (const [what, option, make, had] of COUNTED) {
  Deno.test(`six people whose relationship is ${what} need --confirm-${CONFIRMED[option][0]} with their exact number`, () => {
    const drafts = Array.from({ length: 6 }, (_, n) => make(n));
    const events = people(10, had);
    const newRoles = ["admin"];
    const [flag, words] = CONFIRMED[option];
    for (const count of [undefined, 0, 5, 7]) {
      const { message, context } = refused(events, drafts, {
        ...{ newRoles, [option]: count },
      });
      const not = count === undefined ? "" : ` (not ${count})`;
      assertEquals(message, `Cannot apply plan: ${words}${not}`);
      assertEquals(context, {
        ...{ people: 10, losses: 0, grants: 0, readmissions: 0 },
        ...(option === "publicTexts" ? { public_texts: 6 } : { [option]: 6 }),
        hint: `Nothing was written. If this is meant, add --confirm-${flag} 6.`,
      });
    }
    passes(events, drafts, { newRoles, [option]: 6 });
    // Five people, or a tenth of the people, need no confirmation.
    passes(events, drafts.slice(0, 5), { newRoles });
    passes(people(60, had), drafts, { newRoles });
  });
}

Deno.test("no confirmation is needed for an earlier end, in an empty feed, or if nothing changes", () => {
  passes(people(10), people(6).map((_, n) => changed(SOON)(n)));
  passes([], people(6).map((_, n) => draft(undefined, of(n))));
  passes(people(10), [], { losses: 6 });
});

Deno.test("losses: expired relationships do not increase the number of people", () => {
  const old = people(600, { valid_until: PAST }).map((event, n) => ({
    ...event,
    relationship_id: `old-${n}`,
    subject: `did:web:old${n}.example`,
  }));
  const events = [...old, ...people(60)];
  const drafts = people(60).map((_, n) => ending(`r${n}`));
  assertEquals(refused(events, drafts).context.losses, 60);
});

Deno.test("re-admissions: any number needs confirmation, by identifier and by subject and type", () => {
  const bob = upsert("b", { subject: person(1) });
  const events = [
    ...people(100).map((event) => ({
      ...event,
      relationship_id: `x-${event.relationship_id}`,
      subject: `x-${event.subject}`,
    })),
    bob,
    revoke(bob),
  ];
  const again = [
    draft("b", of(1, {})),
    draft(undefined, of(1, {})),
    draft("new", of(1, { roles: [] })),
    // Another type, but the identifier of the revoked relationship.
    draft("b", of(1, { relationship_type: "contractor" })),
  ];
  for (const each of again) {
    const { message, context } = refused(events, [each]);
    assertEquals(
      message,
      `Cannot apply plan: 1 revoked relationship would be re-admitted, such as that of "did:web:p1.example" (employment_ended, ${PAST})`,
    );
    assertEquals(context.readmitted, [{
      subject: person(1),
      relationship_id: "b",
      sequence: 102,
      reason_code: "employment_ended",
      effective_at: PAST,
    }]);
    assertEquals(
      context.hint,
      "Nothing was written. If this is meant, add --readmit.",
    );
    passes(events, [each], { readmit: true });
  }
  const superseded = [...events.slice(0, -1), revoke(bob, "superseded")];
  for (const each of again) passes(superseded, [each]);
});

Deno.test("one error contains everything that is not confirmed", () => {
  const gone = upsert("gone", { subject: person(200) });
  const events = [...people(10), gone, revoke(gone)];
  const drafts = [
    ...people(6).map((_, n) => ending(`r${n}`)),
    ...people(6).map((_, n) => draft(undefined, of(300 + n, {}))),
    draft("gone", of(200, {})),
  ];
  assertEquals(
    refused(events, drafts).context.hint,
    "Nothing was written. If this is meant, add --confirm-losses 6 --confirm-grants 7 --readmit.",
  );
  passes(events, drafts, { losses: 6, grants: 7, readmit: true });
});

Deno.test("a plan contains the revocation of each relationship that it re-admits", () => {
  const bob = upsert("b", { subject: person(1) });
  const state = published([bob, revoke(bob)]);
  for (const relationship_id of [undefined, "b"]) {
    const { changes } = planChanges(state, [
      { subject: person(1), type: "employee", relationship_id },
      { subject: person(2), type: "employee" },
    ]);
    assertEquals(changes.map(({ readmits }) => readmits), [{
      relationship_id: "b",
      sequence: 2,
      reason_code: "employment_ended",
      effective_at: PAST,
    }, undefined]);
  }
});

Deno.test("counts several keys as one person, also if only the drafts link them", () => {
  const link = { metadata: { same_person_as: person(0) } };
  const keys = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => upsert(`k${n}`, { subject: `did:key:k${n}`, ...link }),
    );
  const events = [...people(10), ...keys(20)];
  // Twenty-one relationships are revoked, and one person loses access.
  const leaving = [ending("r0"), ...keys(20).map((_, n) => ending(`k${n}`))];
  passes(events, leaving);
  const all = [...leaving, ...[1, 2, 3, 4, 5].map((n) => ending(`r${n}`))];
  assertEquals(refused(events, all).context.losses, 6);
  // A lost device: the person keeps the other keys.
  passes(events, [ending("k3")], { losses: 0 });
  const fresh = Array.from(
    { length: 6 },
    (_, n) => draft(undefined, { subject: `did:key:new${n}`, ...link }),
  );
  passes(people(10), fresh);
  // The first link of a new key counts, as readers see it.
  const again = fresh.map((each, n) => ({
    ...each as UpsertDraft,
    metadata: { same_person_as: `did:key:other${n}` },
  }));
  passes(people(10), [...fresh, ...again]);
  // The link of a known key is ignored by readers, so it counts as a person.
  const known = fresh.map((_, n) =>
    draft(`r${n}`, of(n, { ...link, roles: ["admin"] }))
  );
  assertEquals(refused(people(10), known).context.grants, 6);
});

Deno.test("new roles: each needs --new-role in a feed with events, and a near one is suggested", () => {
  const events = people(10);
  const drafts = [draft("r0", { roles: ["deploi", "a b"] })];
  const { context, message } = refused(events, drafts);
  assertEquals(
    message,
    'Cannot apply plan: the role "deploi" is new (did you mean "deploy"?); the role "a b" is new',
  );
  assertEquals(
    context.hint,
    'Nothing was written. If this is meant, add --new-role deploi --new-role "a b".',
  );
  passes(events, drafts, { newRoles: ["deploi", "a b"] });
  passes([], drafts);
  // A role that a revoked relationship had is known.
  const gone = upsert("gone", { subject: person(50), roles: ["ship"] });
  passes([...events, gone, revoke(gone)], [draft("r0", { roles: ["ship"] })]);
});

/** The keys of people with these names. */
const named = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([subject, name]) => ({ subject, name }));

Deno.test("namesakes: a new key with the name or label of a known or another new person needs --namesakes", () => {
  const [old, one, two] = ["did:key:old", "did:key:1", "did:key:2"] as const;
  const event = upsert("r", { subject: old, display: { label: "Hans F." } });
  const create = (subject: string, members: Members = {}) =>
    draft(undefined, { subject, ...members });
  const keys = named({ [old]: "Hans Fischer", [one]: "hans  fischer" });
  const { context, message } = refused([event], [create(one)], {}, keys);
  assertEquals(
    message,
    'Cannot apply plan: "did:key:1" is new and has the name of "did:key:old", "hans  fischer": give both rows a column person with one id if it is the same person',
  );
  assertStringIncludes(`${context.hint}`, "add --namesakes.");
  const twice = refused([event], [create(one), create(one)], {}, keys);
  assertEquals(twice.message, message);
  passes([event], [create(one)], { namesakes: true }, keys);
  // The known person was offboarded: the name is still known.
  refused([event, revoke(event)], [create(one)], {}, keys);
  refused([event], [create(two, { display: { label: "HANS F." } })]);
  const both = named({ [one]: "Olga", [two]: "Olga", [old]: "Olga" });
  assertEquals(
    refused([], [one, two, old].map((key) => create(key)), {}, both).hint,
    "Nothing was written. If this is meant, add --namesakes.",
  );
  // A further key of a known person, or of another new one, is not new.
  const linked = create(two, { metadata: { same_person_as: one } });
  passes([], [create(one), linked], {}, both);
  const olga = upsert("o", { subject: one });
  passes([upsert("r", { subject: old }), olga], [linked], {}, both);
  // An id tells people apart, unless the other one has left.
  const fresh = [{ subject: one, name: "Hans F.", person: "77" }];
  passes([event], [create(one)], {}, fresh);
  refused([event, revoke(event)], [create(one)], {}, fresh);
  const expired = { ...event, valid_until: PAST };
  passes([expired], [create(one)], {}, fresh);
  const other = upsert("o", {
    subject: two,
    metadata: { same_person_as: old },
  });
  passes([event, other, revoke(event)], [create(one)], {}, fresh);
  const ids = both.slice(0, 2).map((key, at) => ({ ...key, person: `${at}` }));
  passes([], [create(one), create(two)], {}, ids);
});

/** What happened, and a draft that brings somebody back. */
const BACK: Readonly<Record<string, readonly [feed: string, draft: string]>> = {
  "moved to another type, offboarded, and back by an old list": [
    "e alice | end e superseded | c alice type=contractor | end c",
    "- alice",
  ],
  "the id of a superseded relationship of a key that was replaced": [
    "e alice | p phone | end e superseded",
    "e alice",
  ],
  "the id of a revoked relationship beside an active one": [
    "o alice | e alice | end e",
    "e alice",
  ],
  "an active relationship that takes the type of a revoked one": [
    "e alice | end e | c alice type=contractor",
    "c alice",
  ],
  "offboarded and listed as another type": [
    "e alice | end e",
    "- alice type=contractor",
  ],
  "a revoked key, although another key is active": [
    "e alice | p phone | end e admin_action",
    "- alice type=advisor",
  ],
  "offboarded, and back with a new key": ["e alice | end e", "- phone"],
  "offboarded, with an expired relationship that the list extends": [
    "x alice type=contractor until=2026-01-01 | e alice | end e",
    "x alice type=contractor",
  ],
};
/** The same of somebody who does not come back. */
const NOT_BACK: typeof BACK = {
  "a relationship that keeps its type": [
    "e alice | end e | c alice type=contractor",
    "c alice type=contractor",
  ],
  "a further key of an active person": ["e alice", "- phone"],
  "a superseded relationship that has no other": [
    "e alice | end e superseded",
    "- alice",
  ],
};

/** Returns the draft of an upsert as a line of text; `-` is a new one. */
function draftOf(text: string): EventDraft {
  const [{ relationship_id: id, ...members }] = eventsOf(text) as [SigEvent];
  return draft(id === "-" ? undefined : id, members as Members);
}

for (const [what, [feed, back]] of Object.entries(BACK)) {
  Deno.test(`--readmit is needed for a person or key that is ${what}`, () => {
    const events = [...people(9), ...eventsOf(feed)];
    const { context } = refused(events, [draftOf(back)]);
    assertEquals(context.readmissions, 1);
    passes(events, [draftOf(back)], { readmit: true });
  });
}

Deno.test("--readmit is not needed without a return, but for a person of the people file", () => {
  for (const [feed, draft] of Object.values(NOT_BACK)) {
    passes(eventsOf(feed), [draftOf(draft)]);
  }
  const keys = ["alice", "new"].map((name) => ({
    ...{ subject: KEYS[name]!, person: "1" },
  }));
  refused(eventsOf("e alice | end e"), [draftOf("- new")], {}, keys);
});
