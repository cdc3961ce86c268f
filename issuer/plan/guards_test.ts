import {
  check,
  isSigError,
  parseRequirements,
  type ReasonCode,
  type RelationshipUpsertEvent,
  replay,
  type SigEvent,
} from "@sig/core";
import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { PersonKey } from "@sig/issuer/people";
import type { EventDraft } from "../append/draft.ts";
import { type GuardOptions, requireGuards } from "./guards.ts";
import { planChanges } from "./plan_changes.ts";
import * as kit from "../../tests/kit/events.ts";
import { numbered, published } from "../testdata/published.ts";
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

Deno.test("losses and grants equal the differences of check before and after", () => {
  // A seeded generator makes failures repeatable.
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor(seed / 65536) % below;
  };
  const TYPES = ["employee", "contractor"] as const;
  const ROLES = ["a", "b", "c"];
  const TIMES = [null, null, PAST, FUTURE];
  const members = (): Members => {
    const from = TIMES[random(4)]!;
    return {
      relationship_type: TYPES[random(2)]!,
      roles: ROLES.filter(() => random(2) === 0),
      valid_from: from,
      valid_until: from === FUTURE || random(4) ? null : "2026-03-01T00:00:00Z",
    };
  };
  const questions = TYPES.flatMap((type) =>
    Array.from({ length: 8 }, (_, bits) => [
      `relationship=${type}`,
      ...ROLES.filter((_, at) => bits & (1 << at)).map((role) =>
        `role=${role}`
      ),
    ])
  ).concat(ROLES.map((role) => [`role=${role}`]), [["role=a", "role=b"]]);
  let seen = 0;
  for (let round = 0; round < 300; round++) {
    const events: SigEvent[] = [];
    for (let n = 0; n < 8; n++) {
      const event = upsert(`r${n}`, of(random(4), members()));
      events.push(event);
      if (random(4) === 0) events.push(revoke(event));
    }
    const state = published(events);
    // The issuer refuses an upsert that changes a subject.
    const subjects = new Map<string, string>();
    const drafts = Array.from({ length: 1 + random(5) }, (_, n) => {
      const id = `r${random(12)}`;
      const known = state.relationships.get(id);
      if (known !== undefined && random(2)) return ending(id);
      const name = known !== undefined || random(3) ? id : `n${n}`;
      const subject = known?.upsert.subject ?? subjects.get(name) ??
        person(random(5));
      subjects.set(name, subject);
      return draft(name, { ...members(), subject });
    });
    const after = [...events];
    for (const each of drafts) {
      const id = each.relationship_id!;
      const { relationship_id: _, ...rest } = each;
      if (each.event_type === "relationship.upsert") {
        after.push(upsert(id, rest as Members));
      } else {
        after.push(
          revoke(after.find((event) => event.relationship_id === id)!),
        );
      }
    }
    const [was, is] = [events, after].map((all) =>
      replay(numbered(all), { issuer: kit.ISSUER }).state
    );
    const count = (from: typeof was, to: typeof was) =>
      [0, 1, 2, 3, 4].filter((n) =>
        questions.some((require) => {
          const question = {
            ...{ subject: person(n), now: NOW },
            require: parseRequirements(require),
          };
          return check(from!, question).decision === "allow" &&
            check(to!, question).decision === "deny";
        })
      ).length;
    const [losses, grants] = [count(was, is), count(is, was)];
    seen += losses + grants;
    const options = { losses: -1, grants: -1, readmit: true };
    if (losses + grants === 0) passes(events, drafts, options);
    else {
      const { context } = refused(events, drafts, options);
      assertEquals([context.losses, context.grants], [losses, grants]);
    }
  }
  assert(seen > 300);
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
  const both = named({ [one]: "Olga", [two]: "Olga" });
  refused([], [create(one), create(two)], {}, both);
  // An id tells people apart, unless the other one has left.
  const fresh = [{ subject: one, name: "Hans F.", person: "77" }];
  passes([event], [create(one)], {}, fresh);
  refused([event, revoke(event)], [create(one)], {}, fresh);
  const ids = both.map((key, at) => ({ ...key, person: `${at}` }));
  passes([], [create(one), create(two)], {}, ids);
});

Deno.test("re-admissions: another type, another key and a replaced key are no way around the guard", () => {
  const [laptop, phone] = ["did:key:laptop", "did:key:phone"];
  const link = { metadata: { same_person_as: laptop } };
  const employee = upsert("e", { subject: laptop });
  const other = upsert("p", { subject: phone, ...link });
  const CONTRACTOR = { relationship_type: "contractor" } as const;
  const contractor = upsert("c", { subject: laptop, ...CONTRACTOR });
  const cases: readonly (readonly [string, SigEvent[], EventDraft])[] = [
    [
      "moved to another type, offboarded, and back by an old list",
      [
        employee,
        revoke(employee, "superseded"),
        contractor,
        revoke(contractor, "contract_ended"),
      ],
      draft(undefined, { subject: laptop }),
    ],
    [
      "the id of a superseded relationship of a key that was replaced",
      [employee, other, revoke(employee, "superseded")],
      draft("e", { subject: laptop }),
    ],
    [
      "the id of a revoked relationship beside an active one",
      [upsert("o", { subject: laptop }), employee, revoke(employee)],
      draft("e", { subject: laptop }),
    ],
    [
      "an active relationship that takes the type of a revoked one",
      [employee, revoke(employee), contractor],
      draft("c", { subject: laptop }),
    ],
    [
      "offboarded and listed as another type",
      [employee, revoke(employee)],
      draft(undefined, { subject: laptop, ...CONTRACTOR }),
    ],
    [
      "a revoked key, although another key is active",
      [employee, other, revoke(employee, "admin_action")],
      draft(undefined, { subject: laptop, relationship_type: "advisor" }),
    ],
    [
      "offboarded, and back with a new key",
      [employee, revoke(employee)],
      draft(undefined, { subject: phone, ...link }),
    ],
    [
      "offboarded, with an expired relationship that the list extends",
      [
        upsert("x", { subject: laptop, ...CONTRACTOR, valid_until: PAST }),
        employee,
        revoke(employee),
      ],
      draft("x", { subject: laptop, ...CONTRACTOR }),
    ],
  ];
  for (const [what, events, back] of cases) {
    const { context } = refused([...people(9), ...events], [back], {
      newRoles: ["deploy"],
    });
    assertEquals(context.readmissions, 1, what);
    passes([...people(9), ...events], [back], { readmit: true });
  }
  // A relationship that keeps its type, a further key of an active person, and a
  // superseded one that has no other.
  passes(
    [employee, revoke(employee), contractor],
    [draft("c", { ...CONTRACTOR, subject: laptop, roles: [] })],
  );
  passes([employee], [draft(undefined, { subject: phone, ...link })]);
  passes(
    [employee, revoke(employee, "superseded")],
    [draft(undefined, { subject: laptop })],
  );
  // The same person by the people file alone.
  refused(
    [employee, revoke(employee)],
    [draft(undefined, { subject: phone })],
    {},
    [{ subject: laptop, person: "1" }, { subject: phone, person: "1" }],
  );
});
