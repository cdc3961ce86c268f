import { createMemoryStore, openStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { ClientQuota } from "../login/client_quota.ts";
import { addJoined, MAX_SESSION_GRANTS, type Session } from "./session.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import { createSessions, randomText } from "./sessions.ts";

function countAll(clients: Session["clients"]): number {
  return Object.values(clients)
    .reduce((sum, { grants = [] }) => sum + grants.length, 0);
}

Deno.test("what all applications of a session were given is bounded: who has the most loses the oldest", () => {
  const now = new Date();
  let clients: Session["clients"] = {};
  const give = (clientId: string, grant: string) => {
    const after = addJoined(clients, { clientId, grant }, now);
    clients = after.clients;
    return after.fallen;
  };
  const apps = MAX_SESSION_GRANTS - 4;
  for (let i = 0; i < apps; i++) {
    assertEquals(give(`app${i}`, `first of ${i}`), []);
  }
  for (let i = 1; i <= 4; i++) assertEquals(give("busy", `busy ${i}`), []);
  assertEquals(give("late", "late 1"), ["busy 1"]);
  assertEquals(give("app0", "second of 0"), ["busy 2"]);
  assertEquals(clients["busy"]?.grants, ["busy 3", "busy 4"]);
  assertEquals(countAll(clients), MAX_SESSION_GRANTS);

  // Nobody loses the only one.
  assertEquals(give("app0", "third of 0"), ["first of 0"]);
  assertEquals(give("app1", "second of 1"), ["second of 0"]);
  assertEquals(give("new 1", "1"), ["first of 1"]);
  assertEquals(give("new 2", "2"), ["busy 3"]);
  assertEquals(give("new 3", "3"), []);
  assertEquals(countAll(clients), MAX_SESSION_GRANTS + 1);
});

Deno.test("a session in which many applications were given much still fits a file of Deno KV, and ends", async () => {
  const folder = await Deno.makeTempDir();
  const store = await openStore(`kv:${folder}/store.db`);
  try {
    const dropped: string[] = [];
    const told: string[] = [];
    const sessions = createSessions<null>({
      store: store,
      lifeMs: 60_000,
      terms: { audience: "https://login.example", issuer: null, require: [] },
      tell: ({ client_id }) => Promise.resolve(void told.push(client_id)),
      drop: (grant) => Promise.resolve(void dropped.push(grant)),
      now: () => new Date(),
    });
    const who = { subject: "did:web:alice.example", standing: null };
    const { session: { sid } } = await sessions.logIn(who);
    const apps = 160;
    for (let i = 0; i < 16 * apps; i++) {
      const clientId = `application-${i % apps}`;
      assert(await sessions.join(sid, { clientId, grant: randomText(16) }));
    }
    await sessions.end(sid);
    assertEquals(told.length, apps);
    assertEquals(new Set(dropped).size, 16 * apps);
    assertEquals(await sessions.get(sid), undefined);
  } finally {
    await store.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("one client's oldest session ends where it has too many, and nobody else's", async () => {
  const sessions = createSessions<MatchedRelationship | null>({
    store: createMemoryStore(),
    lifeMs: 60_000,
    terms: { audience: "https://a.example", issuer: null, require: [] },
    tell: () => Promise.resolve(),
    quota: new ClientQuota({ maxRecords: 2 }),
    now: () => new Date("2026-01-31T09:00:00Z"),
  });
  const logIn = async (client: string) => {
    const subject = `did:key:${crypto.randomUUID()}`;
    const who = { subject, standing: null };
    return (await sessions.logIn(who, undefined, undefined, client)).cookie;
  };
  const others = await logIn("192.0.2.2");
  const own = [];
  for (let i = 0; i < 3; i++) own.push(await logIn("192.0.2.1"));
  const known = [];
  for (const cookie of [others, ...own]) {
    known.push(await sessions.find(cookie) !== undefined);
  }
  assertEquals(known, [true, false, true, true]);
});
