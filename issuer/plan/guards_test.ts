import {
  check,
  isSigError,
  parseRequirements,
  type ReasonCode,
  type RelationshipUpsertEvent,
  replay,
  type SigEvent,
} from "@sig/core";
import { assert, assertEquals, assertThrows } from "@std/assert";
import type { EventDraft } from "../append/draft.ts";
import { type GuardOptions, requireGuards } from "./guards.ts";
import { planChanges } from "./plan_changes.ts";
import * as kit from "../../tests/kit/events.ts";
import { numbered, published } from "../testdata/published.ts";

// promise: Access for or from many people needs a confirmation, counted in
//   people by what `check` would answer.

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
): void {
  requireGuards(published(events), drafts, { now: NOW, ...options });
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

const LOSSES: readonly (readonly [string, (n: number) => EventDraft])[] = [
  ["is revoked", (n) => ending(`r${n}`)],
  ["has ended", (n) => draft(`r${n}`, of(n, { valid_until: PAST }))],
  ["begins in 2062", (n) => draft(`r${n}`, of(n, { valid_from: FUTURE }))],
  ["loses its roles", (n) => draft(`r${n}`, of(n, { roles: [] }))],
  [
    "gets another type",
    (n) => draft(`r${n}`, of(n, { relationship_type: "contractor" })),
  ],
];

function of(n: number, members: Members): Members {
  return { subject: person(n), ...members };
}

for (const [what, make] of LOSSES) {
  Deno.test(`losses: six people whose relationship ${what} need their exact number confirmed`, () => {
    const events = people(10);
    const drafts = events.slice(0, 6).map((_, n) => make(n));
    const isOtherType = what === "gets another type";
    const rest = isOtherType ? { grants: 6 } : {};
    for (const losses of [undefined, 0, 5, 7]) {
      const { message, context } = refused(events, drafts, { ...rest, losses });
      assertEquals(
        message,
        `Cannot apply plan: 6 of 10 people would lose access${
          losses === undefined ? "" : ` (not ${losses})`
        }`,
      );
      assertEquals(context, {
        people: 10,
        losses: 6,
        grants: isOtherType ? 6 : 0,
        readmissions: 0,
        hint: "Nothing was written. If this is meant, add --confirm-losses 6.",
      });
    }
    passes(events, drafts, { ...rest, losses: 6 });
    // Five people, or a tenth of the people, need no confirmation.
    passes(events, drafts.slice(0, 5));
    passes(people(60), drafts);
    passes(events, [], { losses: 6 });
  });
}

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

Deno.test("losses: a person with the same access through another relationship loses nothing", () => {
  const events = people(10).flatMap((event, n) => [
    event,
    upsert(`second-${n}`, of(n, { roles: ["deploy", "review"] })),
  ]);
  const drafts = people(10).map((_, n) => ending(`r${n}`));
  passes(events, drafts);
  const both = [...drafts, ...people(10).map((_, n) => ending(`second-${n}`))];
  // Two relationships of one person count as one person.
  assertEquals(refused(events, both).context.losses, 10);
});

Deno.test("grants: six new people need their exact number confirmed, except in an empty feed", () => {
  const drafts = Array.from(
    { length: 6 },
    (_, n) => draft(undefined, of(100 + n, {})),
  );
  const { message, context } = refused(people(10), drafts);
  assertEquals(
    message,
    "Cannot apply plan: 6 people would gain access, 10 have it now",
  );
  assertEquals(
    context.hint,
    "Nothing was written. If this is meant, add --confirm-grants 6.",
  );
  assertEquals(refused(people(10), drafts, { grants: 5 }).context.grants, 6);
  passes(people(10), drafts, { grants: 6 });
  passes(people(10), drafts.slice(1));
  passes(people(60), drafts);
  passes([], drafts);
  // An additional role for existing people is a grant, too.
  const roles = people(10).map((_, n) =>
    draft(`r${n}`, of(n, { roles: ["admin", "deploy"] }))
  );
  assertEquals(refused(people(10), roles).context.grants, 10);
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
  passes(events, [draft(undefined, of(1, { relationship_type: "advisor" }))]);
  const superseded = [...events.slice(0, -1), revoke(bob, "superseded")];
  for (const each of again) passes(superseded, [each]);
});

Deno.test("re-admissions: an active relationship that takes the type of a revoked one is a re-admission", () => {
  const employee = upsert("a");
  const contractor = upsert("b", { relationship_type: "contractor" });
  const events = [employee, revoke(employee), contractor];
  assertEquals(refused(events, [draft("b")]).context.readmissions, 1);
  passes(events, [draft("b", { relationship_type: "contractor", roles: [] })]);
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
      valid_until: from === FUTURE ? null : random(4) ? null : FUTURE,
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

Deno.test("counts several keys as one person, and ignores links that are not in the feed yet", () => {
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
  assertEquals(refused(people(10), fresh).context.grants, 6);
});
