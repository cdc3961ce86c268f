import {
  createMemoryStore,
  type RecordStore,
  storeUnavailable,
} from "@sig/consumer/store";
import { type CheckAnswer, SigError } from "@sig/core";
import { assertEquals, assertRejects } from "@std/assert";
import type { MatchedRelationship } from "../login/relationship.ts";
import { createRecheck, SessionNotEnded } from "./recheck.ts";
import { createSessions } from "./sessions.ts";

// promise: A deny that the store can't record is a deny, and no lost role
//   returns.

const EMPLOYEE: MatchedRelationship = {
  issuer: "did:web:acme.example",
  relationship_id: "r1",
  type: "employee",
  roles: [],
  sequence: 1,
};
const ADMIN = { ...EMPLOYEE, roles: ["admin"], sequence: 2 };
const MEMBER = { ...EMPLOYEE, sequence: 3 };
const START_MS = Date.parse("2026-01-31T09:00:00Z");
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SILENCE = new SigError(
  "fetch_failed",
  { action: "ask issuer", reason: "for this test" },
);

/** An issuer's answer: a relationship, a deny, or an error. */
type Said = MatchedRelationship | "deny" | SigError;

/** The state that a process has read of an issuer, with its time. */
interface Memory {
  readonly said: MatchedRelationship | "deny";
  readonly sequence: number;
  readonly observedMs: number;
}

/** A person with a session, the issuer, and a process with a cached state. */
class Fixture {
  laterMs = 0;
  said: Said = EMPLOYEE;
  /** Undefined after a restart. */
  memory: Memory | undefined;
  asked = 0;
  isReadOnly = false;
  readonly now = () => new Date(START_MS + this.laterMs);
  readonly sessions;
  readonly recheck;
  #sid = "";

  constructor(graceMs: number) {
    const memory = createMemoryStore();
    const store: RecordStore = {
      ...memory,
      put: (...record) =>
        this.isReadOnly
          ? Promise.reject(storeUnavailable("in memory", "it takes no writes"))
          : memory.put(...record),
    };
    this.sessions = createSessions({
      ...{ store, lifeMs: 24 * HOUR_MS, now: this.now },
      conditions: {
        audience: "https://shop.example",
        ...{ issuer: EMPLOYEE.issuer, require: ["relationship=employee"] },
      },
    });
    const { sessions, now } = this;
    this.recheck = createRecheck({ ask: this.#ask, sessions, graceMs, now });
  }

  static async signedIn(graceMs = HOUR_MS): Promise<Fixture> {
    const fixture = new Fixture(graceMs);
    const who = { subject: "did:key:z6Mk", relationship: EMPLOYEE };
    fixture.#sid = (await fixture.sessions.logIn(who)).session.sid;
    return fixture;
  }

  /** Returns the session as stored. */
  async session() {
    return (await this.sessions.get(this.#sid))!;
  }

  /** Rechecks the session as for a page. */
  async page(wasMet?: boolean) {
    return await this.recheck.recheckOrGrace(
      await this.session(),
      wasMet === undefined
        ? {}
        : { client: { client_id: "ops", require: ["role=ops"] }, wasMet },
    );
  }

  readonly #ask: Parameters<typeof createRecheck>[0]["ask"] = (
    _subject,
    { refresh } = {},
  ) => {
    const isMemory = refresh === false;
    if (!isMemory) this.asked++;
    const said = isMemory ? this.memory?.said ?? SILENCE : this.said;
    if (said instanceof SigError) return Promise.reject(said);
    const relationship = said === "deny" ? undefined : said;
    const last_sequence = isMemory
      ? this.memory!.sequence
      : relationship?.sequence ?? 9;
    const observedMs = isMemory
      ? this.memory!.observedMs
      : this.now().getTime();
    // Only the member that the recheck reads.
    const answer = { last_sequence } as CheckAnswer;
    return Promise.resolve({ answer, relationship, observedMs });
  };
}

Deno.test("a deny ends the session, which does not continue even if the store fails to record it", async () => {
  const fixture = await Fixture.signedIn();
  assertEquals(await fixture.page(), EMPLOYEE);
  const session = await fixture.session();
  fixture.said = "deny";
  fixture.isReadOnly = true;
  for (const _ of [1, 2]) {
    for (const way of ["recheckSession", "recheckOrGrace"] as const) {
      const error = await assertRejects(
        () => fixture.recheck[way](session),
        SessionNotEnded,
        "Cannot end session: the store does not respond",
      );
      assertEquals(error.code, "store_unavailable");
    }
  }
  fixture.isReadOnly = false;
  assertEquals(await fixture.page(), undefined);
  assertEquals(await fixture.session(), undefined);
});

Deno.test("a denied client does not continue even if the store fails to remove it", async () => {
  const fixture = await Fixture.signedIn();
  const session = await fixture.session();
  const fail = () => Promise.reject(storeUnavailable("in memory", "away"));
  const recheck = createRecheck({
    // Denies only the requirements of the client.
    ask: (_subject, further) =>
      Promise.resolve({
        answer: { last_sequence: 1 } as CheckAnswer,
        relationship: further?.require === undefined ? EMPLOYEE : undefined,
        observedMs: START_MS,
      }),
    sessions: { end: fail, leave: fail, confirm: fail },
    ...{ graceMs: HOUR_MS, now: fixture.now },
  });
  const client = { client_id: "ops", require: ["role=ops"] };
  await assertRejects(
    () => recheck.recheckSession(session, { client }),
    SessionNotEnded,
    "Cannot end session: the store does not respond",
  );
});

Deno.test("an issuer that does not respond is not queried again for 5 seconds", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = SILENCE;
  assertEquals(await fixture.page(), EMPLOYEE);
  fixture.said = "deny";
  fixture.laterMs = 4_999;
  assertEquals(await fixture.page(), EMPLOYEE);
  assertEquals(fixture.asked, 1);
  fixture.laterMs = 5_000;
  assertEquals(await fixture.page(), undefined);
  assertEquals(fixture.asked, 2);
});

/** Reads a state of the issuer half an hour after the login. */
const readsLater = (sequence: number) => (fixture: Fixture) => {
  const observedMs = START_MS + 30 * MINUTE_MS;
  fixture.memory = { said: EMPLOYEE, sequence, observedMs };
};
const confirmsAt = (laterMs: number, said = EMPLOYEE) => (fixture: Fixture) => {
  Object.assign(fixture, { laterMs, said });
  return fixture.page();
};

/**
 * Cases of the grace period; `untilMs` is the last instant at which the session
 * continues, in milliseconds after the login.
 */
const GRACE: readonly (readonly [
  name: string,
  untilMs: number,
  before?: (fixture: Fixture) => unknown,
  graceMs?: number,
])[] = [
  ["after a restart, for the grace period from the login", HOUR_MS - 1],
  ["for 10 minutes by --grace 10m", 599_999, () => {}, 10 * MINUTE_MS],
  ["not at all by --grace 0s", -1, () => {}, 0],
  [
    "from a confirmation after a quarter of the grace period, which is stored",
    ...[75 * MINUTE_MS - 1, confirmsAt(15 * MINUTE_MS)] as const,
  ],
  [
    "not from a confirmation within a quarter of the grace period, which is not stored",
    ...[HOUR_MS - 1, confirmsAt(15 * MINUTE_MS - 1)] as const,
  ],
  [
    "from a changed relationship, which is stored immediately",
    ...[61 * MINUTE_MS - 1, confirmsAt(MINUTE_MS, ADMIN)] as const,
  ],
  [
    "from the time at which this process last read the issuer",
    ...[90 * MINUTE_MS - 1, readsLater(1)] as const,
  ],
  [
    "not from the state of a process that has read less than the login",
    ...[HOUR_MS - 1, readsLater(0)] as const,
  ],
];

for (const [name, untilMs, before, graceMs] of GRACE) {
  Deno.test(`without an answer, a session continues ${name}`, async () => {
    const fixture = await Fixture.signedIn(graceMs);
    await before?.(fixture);
    const { relationship } = await fixture.session();
    fixture.said = SILENCE;
    if (untilMs >= 0) {
      fixture.laterMs = untilMs;
      assertEquals(await fixture.page(), relationship);
    }
    fixture.laterMs = untilMs + 1;
    for (const _ of ["asked", "not asked again"]) {
      assertEquals(await assertRejects(() => fixture.page()), SILENCE);
    }
    // The session has not ended: with an answer it continues.
    fixture.laterMs += 10_000;
    fixture.said = MEMBER;
    assertEquals(await fixture.page(), MEMBER);
  });
}

Deno.test("a relationship is stored as soon as one of its members changes, not for a newer sequence alone", async () => {
  const known = { ...EMPLOYEE, roles: ["dev", "qa"], sequence: 2 };
  const changes: readonly Partial<MatchedRelationship>[] = [
    ...[{ relationship_id: "r2" }, { type: "member" }, {
      roles: ["dev", "ops"],
    }],
    ...[{ roles: [] }, { not_after: "2026-03-01T00:00:00Z" }, {}],
  ];
  for (const change of changes) {
    const fixture = await Fixture.signedIn();
    fixture.said = known;
    await fixture.page();
    fixture.said = { ...known, ...change, sequence: 3 };
    assertEquals(await fixture.page(), fixture.said);
    const isChanged = Object.keys(change).length > 0;
    const { relationship } = await fixture.session();
    assertEquals(relationship, isChanged ? fixture.said : known);
  }
});

Deno.test("without an answer, a role that the issuer removed does not return", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = ADMIN;
  assertEquals(await fixture.page(), ADMIN);
  // The answer is valid even if the store fails.
  fixture.isReadOnly = true;
  fixture.said = MEMBER;
  assertEquals(await fixture.page(), MEMBER);
  fixture.isReadOnly = false;
  assertEquals(await fixture.page(), MEMBER);
  // A process that has read less does not overwrite the newer state.
  fixture.said = ADMIN;
  assertEquals(await fixture.page(), ADMIN);
  fixture.said = SILENCE;
  assertEquals(await fixture.page(), MEMBER);
  const observedMs = START_MS;
  fixture.memory = { said: ADMIN, sequence: 2, observedMs };
  assertEquals(await fixture.page(), MEMBER);
  fixture.memory = { said: EMPLOYEE, sequence: 9, observedMs };
  assertEquals(await fixture.page(), EMPLOYEE);
});

Deno.test("without an answer, a session pauses at the relationship's not_after but does not end", async () => {
  const fixture = await Fixture.signedIn();
  const until = { ...EMPLOYEE, not_after: "2026-01-31T09:30:00Z", sequence: 2 };
  const further = { ...until, not_after: "2026-01-31T09:50:00Z", sequence: 3 };
  fixture.said = until;
  assertEquals(await fixture.page(), until);
  fixture.said = SILENCE;
  fixture.laterMs = 30 * MINUTE_MS - 1;
  assertEquals(await fixture.page(), until);
  for (const ms of [0, 1, MINUTE_MS]) {
    fixture.laterMs = 30 * MINUTE_MS + ms;
    assertEquals(await assertRejects(() => fixture.page()), SILENCE);
  }
  fixture.said = further;
  fixture.laterMs += 10_000;
  assertEquals(await fixture.page(), further);
  fixture.said = SILENCE;
  assertEquals(await fixture.page(), further);
});

Deno.test("without an answer, a session does not continue after a deny that this process knows", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = SILENCE;
  const observedMs = START_MS;
  fixture.memory = { said: EMPLOYEE, sequence: 1, observedMs };
  assertEquals(await fixture.page(), EMPLOYEE);
  for (const sequence of [1, 2]) {
    fixture.memory = { said: "deny", sequence, observedMs };
    assertEquals(await assertRejects(() => fixture.page()), SILENCE);
  }
  // The process has read less than the login.
  fixture.memory = { said: "deny", sequence: 0, observedMs };
  assertEquals(await fixture.page(), EMPLOYEE);
  const newer = { ...EMPLOYEE, roles: ["ops"], sequence: 3 };
  fixture.memory = { said: newer, sequence: 3, observedMs };
  assertEquals(await fixture.page(), newer);
});

Deno.test("without an answer, a client with requirements only gets a relationship known to meet them", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = SILENCE;
  assertEquals(await fixture.page(true), EMPLOYEE);
  assertEquals(await assertRejects(() => fixture.page(false)), SILENCE);
  const observedMs = START_MS;
  fixture.memory = { said: ADMIN, sequence: 2, observedMs };
  assertEquals(await fixture.page(false), ADMIN);
});
