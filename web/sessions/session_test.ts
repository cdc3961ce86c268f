import { createMemoryStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { OwnerQuota } from "../store/owner_quota.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import type { Session } from "./session.ts";
import { createSessions, MAX_SESSIONS } from "./sessions.ts";

const CONDITIONS = {
  ...{ audience: "https://login.example", issuer: null, require: [] },
};
const CONSENT = { clientId: "app", asked: ["openid"], granted: ["openid"] };
const alice = { subject: "did:web:alice.example", relationship: null };

/** Sessions in a store, and what they notify. */
function createFixture() {
  const store = createMemoryStore();
  const notified: string[] = [];
  const sessions = createSessions<null>({
    ...{ store, lifeMs: 60_000, conditions: CONDITIONS },
    notify: ({ client_id, sid }) =>
      Promise.resolve(void notified.push(`${client_id} ${sid}`)),
    now: () => new Date("2026-01-31T09:00:00Z"),
  });
  return { sessions, notified };
}

Deno.test("a session with the maximum number of applications fits in every store and ends", async () => {
  // Every store has the same limit for the size of a record.
  const { sessions, notified } = createFixture();
  const scopes = ["openid", "profile", "groups", "offline_access"];
  let cookie: string | undefined;
  for (let i = 0; i < 66; i++) {
    const clientId = `${i}-`.padEnd(128, "x");
    const logIn = await sessions.logIn({
      ...alice,
      consent: { clientId, asked: scopes, granted: scopes },
    }, await sessions.find(cookie));
    cookie = logIn.cookie;
  }
  // The applications that joined first have left.
  assertEquals(notified.map((each) => each.split("-")[0]), ["0", "1"]);
  const [sid = ""] = cookie!.split(".");
  await sessions.end(sid);
  assertEquals(notified.length, 66);
  assertEquals(await sessions.get(sid), undefined);
});

// promise: A person has at most 50 sessions on each server.

Deno.test("a person's sessions beyond 50 end that person's oldest, and notify its applications", async () => {
  const { sessions, notified } = createFixture();
  const logIn = async (before?: Session<null>, subject = alice.subject) => {
    const who = { ...alice, subject, consent: CONSENT };
    const { session, cookie } = await sessions.logIn(who, before);
    return { session, cookie, sid: session.sid };
  };
  const bob = await logIn(undefined, "did:web:bob.example");
  const own = [];
  for (let i = 0; i < MAX_SESSIONS; i++) own.push(await logIn());
  const [first, second, third] = own.map(({ sid }) => sid);
  // After a new login in the same browser, its session is no longer the oldest.
  const again = await logIn(own[1]!.session);
  assertEquals([again.sid, notified], [second, []]);
  assertEquals(await sessions.find(own[1]!.cookie), undefined);
  await logIn();
  await logIn();
  assertEquals(notified, [`app ${first}`, `app ${third}`]);
  for (const cookie of [again.cookie, bob.cookie, own[3]!.cookie]) {
    assert(await sessions.find(cookie));
  }
  // Sessions that have ended do not count.
  for (let i = 0; i < MAX_SESSIONS; i++) {
    const { sid } = await logIn(undefined, "did:web:bob.example");
    await sessions.end(sid);
  }
  assert(await sessions.find(bob.cookie));
  const listed = await Array.fromAsync(sessions.list());
  assertEquals(listed.length, MAX_SESSIONS + 1);
});

Deno.test("too many sessions of one client end its oldest session and no other", async () => {
  const sessions = createSessions<MatchedRelationship | null>({
    store: createMemoryStore(),
    lifeMs: 60_000,
    conditions: CONDITIONS,
    quota: new OwnerQuota({ maxRecords: 2 }),
    now: () => new Date("2026-01-31T09:00:00Z"),
  });
  const logIn = async (client?: string) => {
    const subject = `did:key:${crypto.randomUUID()}`;
    return (await sessions.logIn({ subject, client, relationship: null }))
      .cookie;
  };
  const others = await logIn("192.0.2.2");
  const own = [];
  for (let i = 0; i < 3; i++) own.push(await logIn("192.0.2.1"));
  // A client without an address has no quota.
  for (let i = 0; i < 3; i++) own.push(await logIn());
  const known = [];
  for (const cookie of [others, ...own]) {
    known.push(await sessions.find(cookie) !== undefined);
  }
  assertEquals(known, [true, false, ...Array(5).fill(true)]);
});

Deno.test("one process notifies the applications of an ended session; another takes over after 20 seconds", async () => {
  let nowMs = Date.parse("2026-01-31T09:00:00Z");
  const store = createMemoryStore();
  const notified: string[] = [];
  const begun = Promise.withResolvers<void>();
  const sessionsOf = (notify: (client: string) => Promise<void>) =>
    createSessions<null>({
      ...{ store, lifeMs: 60_000, now: () => new Date(nowMs) },
      conditions: CONDITIONS,
      notify: ({ client_id }) => notify(client_id),
    });
  // Simulates a process that crashes during the notification.
  const dying = sessionsOf(() => {
    begun.resolve();
    return new Promise(() => {});
  });
  const other = sessionsOf((client) =>
    Promise.resolve(void notified.push(client))
  );
  const { session } = await dying.logIn({ ...alice, consent: CONSENT });
  const { sid, confirmed_ms } = session;
  void dying.end(sid);
  await begun.promise;
  // The session is marked as ended, and nothing changes it.
  assertEquals(await other.get(sid), undefined);
  await other.confirm(session, null, nowMs + 1);
  const listed = await Array.fromAsync(other.list());
  assertEquals(listed.map((each) => each.confirmed_ms), [confirmed_ms]);
  nowMs += 19_999;
  await other.end(sid);
  assertEquals(notified, []);
  nowMs += 1;
  await Promise.all([other.end(sid), other.end(sid)]);
  assertEquals(notified, ["app"]);
});

Deno.test("a confirmation does not replace a relationship that has changed in the meantime", async () => {
  const sessions = createSessions<string>({
    ...{ store: createMemoryStore(), lifeMs: 60_000, conditions: CONDITIONS },
    now: () => new Date(),
  });
  const { session } = await sessions.logIn({
    ...{ ...alice, relationship: "first" },
  });
  await sessions.confirm(session, "second", 2);
  await sessions.confirm(session, "third", 3);
  const { relationship, confirmed_ms } = (await sessions.get(session.sid))!;
  assertEquals([relationship, confirmed_ms], ["second", 2]);
  // Leaving an unknown session is not an error.
  await sessions.leave("unknown", "app");
});

/** Conditions of a server after a restart, and whether sessions continue. */
const CONDITIONS_AFTER: readonly (readonly [object, boolean])[] = [
  [{}, true],
  [{ require: [] }, true],
  [{ issuer: null, require: [] }, true],
  [{ require: ["role=a", "role=b"] }, false],
  [{ require: ["role=b"] }, false],
  [{ issuer: "did:web:other.example" }, false],
  [{ audience: "https://shop.example" }, false],
];

Deno.test("a session continues only for its audience, its issuer and at most its requirements", async () => {
  for (const [changes, continues] of CONDITIONS_AFTER) {
    const own = {
      ...{ audience: "https://login.example", issuer: "did:web:acme.example" },
      require: ["role=a"],
    };
    const store = createMemoryStore();
    const sessionsWith = (conditions: typeof own) =>
      createSessions<null>({
        ...{ store, lifeMs: 60_000, conditions, now: () => new Date() },
      });
    const { session, cookie } = await sessionsWith(own).logIn(alice);
    const after = sessionsWith({ ...own, ...changes });
    const found = [await after.find(cookie), await after.get(session.sid)];
    assertEquals(
      found.map((each) => each !== undefined),
      [continues, continues],
      JSON.stringify(changes),
    );
  }
});
