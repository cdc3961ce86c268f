import { createMemoryStore, MAX_RECORD_BYTES } from "@sig/consumer/store";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { SESSION } from "../store/kinds.ts";
import { type CheckAnswer, SigError } from "@sig/core";
import { createRecheck } from "./recheck.ts";
import { createSessions } from "./sessions.ts";
import { createWatch } from "./watch.ts";

// promise: A session that the store can't end prolongs no other session.

Deno.test("a session that the store can't end does not keep others alive", async () => {
  const store = createMemoryStore();
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
  // The record has the maximum size, so the mark of its end does not fit.
  const largest = (note: string) => JSON.stringify({ ...session, note });
  const room = MAX_RECORD_BYTES - largest("").length;
  const record = { text: largest("x".repeat(room)), expiresAtMs };
  assert(await store.put(SESSION, first!, record, version, now()));
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
