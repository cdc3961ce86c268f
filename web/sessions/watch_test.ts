import { assertEquals, assertRejects } from "@std/assert";
import { SESSION } from "../store/kinds.ts";
import { type CheckAnswer, SigError } from "@sig/core";
import { createRecheck } from "./recheck.ts";
import { createSessions } from "./sessions.ts";
import { openKv } from "./testdata/open_kv.ts";
import { createWatch } from "./watch.ts";

// promise: A session that the store can't end prolongs no other session.

/** Maximum size of a value of Deno KV in bytes. */
const MAX_KV_BYTES = 65_536;

Deno.test("a session that the store can't end does not keep others alive", async () => {
  await using kv = await openKv();
  const { store } = kv;
  const now = () => new Date();
  const sessions = createSessions({
    store,
    lifeMs: 60_000,
    conditions: {
      audience: "https://login.example",
      issuer: null,
      require: [],
    },
    now,
  });
  const relationship = {
    issuer: "did:web:acme.example",
    relationship_id: "r-1",
    type: "employee",
    roles: [],
    sequence: 1,
  };
  for (const name of ["alice", "bob", "carol"]) {
    await sessions.logIn({
      subject: `did:web:${name}.example`,
      relationship,
    });
  }
  const { records } = await store.list(SESSION, now());
  const [first, ...others] = records.map(({ id }) => id);
  const found = await store.get(SESSION, first!, now());
  const { text, version, expiresAtMs } = found!;
  const session = JSON.parse(text);
  // The value has the maximum size, so the mark of its end does not fit.
  for (let room = MAX_KV_BYTES - text.length;; room -= 4) {
    const relationship = "x".repeat(room);
    const large = JSON.stringify({ ...session, relationship });
    const put = { text: large, expiresAtMs };
    const isPut = store.put(SESSION, first!, put, version, now());
    if (await isPut.catch(() => false)) break;
  }
  await assertRejects(() => sessions.end(first!), SigError, "exceeds 60000");

  const watch = createWatch({
    sessions,
    ...createRecheck({
      // All relationships are revoked.
      ask: () =>
        Promise.resolve({
          answer: { last_sequence: 2 } as CheckAnswer,
          relationship: undefined,
          observedMs: now().getTime(),
        }),
      ...{ sessions, now, graceMs: 0 },
    }),
    clientOf: () => undefined,
    now,
  });
  assertEquals(await watch(), { looked: 3, unanswered: 1 });
  for (const sid of others) assertEquals(await sessions.get(sid), undefined);
});
