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
  "Cannot ask issuer: for this test",
);

/** What an issuer says: a relationship, a deny, or nothing. */
type Said = MatchedRelationship | "deny" | SigError;

/** What a process has read of an issuer, and when. */
interface Memory {
  readonly said: MatchedRelationship | "deny";
  readonly sequence: number;
  readonly observedMs: number;
}

/** A person with a session, the issuer, and a process that remembers. */
class Fixture {
  laterMs = 0;
  said: Said = EMPLOYEE;
  /** Undefined: a process that was just started. */
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

  /** The session as the store has it now. */
  async session() {
    return (await this.sessions.get(this.#sid))!;
  }

  /** What a page is told. */
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
    return Promise.resolve({
      // As much of the answer as is read here.
      answer: { last_sequence } as CheckAnswer,
      relationship,
      observedMs: isMemory ? this.memory!.observedMs : this.now().getTime(),
    });
  };
}

Deno.test("a deny ends the session; one that the store could not record does not let it continue", async () => {
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
        "Cannot end session: the store can't be asked",
      );
      assertEquals(error.code, "store_unavailable");
    }
  }
  fixture.isReadOnly = false;
  assertEquals(await fixture.page(), undefined);
  assertEquals(await fixture.session(), undefined);
});

Deno.test("a client that can't be taken out of a session does not go on with it", async () => {
  const fixture = await Fixture.signedIn();
  const session = await fixture.session();
  const fail = () => Promise.reject(storeUnavailable("in memory", "away"));
  const recheck = createRecheck({
    // What only the client requires is denied.
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
    "Cannot end session: the store can't be asked",
  );
});

Deno.test("an issuer without an answer is not asked again for 5 seconds", async () => {
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

/** How long a session continues without an answer, by what is known of it. */
const GRACE: readonly {
  readonly name: string;
  readonly graceMs?: number;
  readonly before?: (fixture: Fixture) => Promise<unknown> | void;
  /** Milliseconds after the login; the last instant at which it continues. */
  readonly untilMs: number;
}[] = [
  { name: "after a restart, from the login on", untilMs: HOUR_MS - 1 },
  { name: "by --grace 10m", graceMs: 10 * MINUTE_MS, untilMs: 599_999 },
  { name: "by --grace 0s", graceMs: 0, untilMs: -1 },
  {
    name: "from when the issuer last confirmed it, which a quarter writes down",
    async before(fixture) {
      fixture.laterMs = 15 * MINUTE_MS;
      await fixture.page();
    },
    untilMs: 75 * MINUTE_MS - 1,
  },
  {
    name: "not from a confirmation within a quarter, which is not written",
    async before(fixture) {
      fixture.laterMs = 15 * MINUTE_MS - 1;
      await fixture.page();
    },
    untilMs: HOUR_MS - 1,
  },
  {
    name: "from news, which are written at once",
    async before(fixture) {
      fixture.laterMs = MINUTE_MS;
      fixture.said = ADMIN;
      await fixture.page();
    },
    untilMs: 61 * MINUTE_MS - 1,
  },
  {
    name: "from when this process last read the issuer",
    before(fixture) {
      const observedMs = START_MS + 30 * MINUTE_MS;
      fixture.memory = { said: EMPLOYEE, sequence: 1, observedMs };
    },
    untilMs: 90 * MINUTE_MS - 1,
  },
  {
    name: "not by a process that has read less than the login",
    before(fixture) {
      const observedMs = START_MS + 30 * MINUTE_MS;
      fixture.memory = { said: EMPLOYEE, sequence: 0, observedMs };
    },
    untilMs: HOUR_MS - 1,
  },
];

for (const { name, graceMs, before, untilMs } of GRACE) {
  Deno.test(`without an answer a session continues ${name}`, async () => {
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
    // Nothing is ended: with an answer it goes on.
    fixture.laterMs += 10_000;
    fixture.said = MEMBER;
    assertEquals(await fixture.page(), MEMBER);
  });
}

Deno.test("without an answer no role comes back that the issuer took away", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = ADMIN;
  assertEquals(await fixture.page(), ADMIN);
  // Whether the store takes it or not, it is true.
  fixture.isReadOnly = true;
  fixture.said = MEMBER;
  assertEquals(await fixture.page(), MEMBER);
  fixture.isReadOnly = false;
  assertEquals(await fixture.page(), MEMBER);
  // A process that has read less makes nobody forget.
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

Deno.test("without an answer nobody continues beyond the end that the issuer gave, nor is ended", async () => {
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

Deno.test("without an answer nobody continues whom the issuer denied, as far as this process knows", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = SILENCE;
  const observedMs = START_MS;
  fixture.memory = { said: EMPLOYEE, sequence: 1, observedMs };
  assertEquals(await fixture.page(), EMPLOYEE);
  for (const sequence of [1, 2]) {
    fixture.memory = { said: "deny", sequence, observedMs };
    assertEquals(await assertRejects(() => fixture.page()), SILENCE);
  }
  // It has read less than the login did.
  fixture.memory = { said: "deny", sequence: 0, observedMs };
  assertEquals(await fixture.page(), EMPLOYEE);
  const newer = { ...EMPLOYEE, roles: ["ops"], sequence: 3 };
  fixture.memory = { said: newer, sequence: 3, observedMs };
  assertEquals(await fixture.page(), newer);
});

Deno.test("without an answer a client that requires more gets only what is known to meet it", async () => {
  const fixture = await Fixture.signedIn();
  fixture.said = SILENCE;
  assertEquals(await fixture.page(true), EMPLOYEE);
  assertEquals(await assertRejects(() => fixture.page(false)), SILENCE);
  const observedMs = START_MS;
  fixture.memory = { said: ADMIN, sequence: 2, observedMs };
  assertEquals(await fixture.page(false), ADMIN);
});

Deno.test("a session of an older version, which says no confirmation, has no grace period", async () => {
  const fixture = await Fixture.signedIn();
  const { confirmed_ms: _, ...old } = await fixture.session();
  fixture.said = SILENCE;
  await assertRejects(
    () =>
      fixture.recheck.recheckOrGrace(
        old as typeof old & { confirmed_ms: number },
      ),
    SigError,
    SILENCE.message,
  );
});
