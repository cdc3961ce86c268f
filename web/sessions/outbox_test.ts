import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { SigError } from "@sig/core";
import { assert, assertEquals } from "@std/assert";
import { logoutKind } from "../store/kinds.ts";
import { createOutbox } from "./outbox.ts";
import type { LogoutNotification } from "./session.ts";
import { turns } from "../../tests/kit/wait.ts";

// promise: A silent application, or a person with many sessions, delays no
//   other logout notification.

const AUDIENCE = "https://login.example";

/**
 * The outboxes of two processes for two applications. Those that are `broken`,
 * or `refuse` a person's notifications, do not accept them.
 */
function createFixture(store: RecordStore = createMemoryStore()) {
  const state = {
    store,
    atMs: Date.parse("2026-01-31T09:00:00Z"),
    broken: new Set<string>(),
    refuses: undefined as string | undefined,
    attempts: 0,
    delivered: [] as LogoutNotification[],
  };
  const open = () =>
    createOutbox({
      store,
      audience: AUDIENCE,
      recipients: () => ["wiki", "shop"],
      send(notification): Promise<boolean> {
        state.attempts++;
        const { client_id, subject } = notification;
        if (state.broken.has(client_id) || subject === state.refuses) {
          return Promise.resolve(false);
        }
        state.delivered.push(notification);
        return Promise.resolve(true);
      },
      now: () => new Date(state.atMs),
    });
  return Object.assign(state, { outbox: open(), other: open() });
}

function noteOf(client_id: string, subject: string, n: number) {
  return { client_id, subject, sid: `${subject}-${n}`, joined: `j${n}` };
}

Deno.test("a person's notifications for an application displace that person's oldest", async () => {
  const fixture = createFixture();
  const { outbox } = fixture;
  fixture.broken.add("wiki");
  await outbox.add(noteOf("wiki", "did:web:alice", 0));
  for (let n = 0; n < 300; n++) {
    await outbox.add(noteOf("wiki", "did:web:mallory", n));
  }
  await outbox.add(noteOf("shop", "did:web:mallory", 0));
  const at = new Date(fixture.atMs);
  const kept = await fixture.store.list(logoutKind("wiki"), at);
  assertEquals(kept.records.length, 51);
  await outbox.deliver();
  fixture.broken.clear();
  fixture.atMs += 600_000;
  await outbox.deliver();
  const sids = new Set(fixture.delivered.map(({ sid }) => sid));
  assertEquals(sids.size, 52);
  assert(sids.has("did:web:alice-0"));
  assert(sids.has("did:web:mallory-299"));
  assert(!sids.has("did:web:mallory-249"));
});

Deno.test("an application that does not respond is asked once per pause, and its notifications are not listed meanwhile", async () => {
  const store = createMemoryStore();
  let lists = 0;
  const fixture = createFixture({
    ...store,
    list: (kind, ...rest) => {
      if (kind.name === logoutKind("wiki").name) lists++;
      return store.list(kind, ...rest);
    },
  });
  const { outbox } = fixture;
  fixture.broken.add("wiki");
  for (let n = 0; n < 1_000; n++) await outbox.add(noteOf("wiki", `p${n}`, 0));
  await outbox.add(noteOf("shop", "p0", 0));
  for (let second = 0; second < 60; second++) {
    await outbox.deliver();
    fixture.atMs += 1_000;
  }
  // Pauses of 1, 2, 4, 8, 16 and 32 seconds.
  assertEquals([lists, fixture.attempts], [6, 7]);
  assertEquals(fixture.delivered.map(({ client_id }) => client_id), ["shop"]);
  // An application that answers again gets all of them.
  fixture.broken.clear();
  fixture.atMs += 300_000;
  assertEquals(await outbox.deliver(), 1_000);
});

Deno.test("a notification that an application rejects does not delay its other ones", async () => {
  const fixture = createFixture();
  fixture.refuses = "p0";
  for (let n = 0; n < 3; n++) {
    await fixture.outbox.add(noteOf("wiki", `p${n}`, 0));
    // The rejected one is due again each time.
    fixture.atMs += 600_000;
    await fixture.outbox.deliver();
  }
  const subjects = fixture.delivered.map(({ subject }) => subject);
  assertEquals(subjects, ["p1", "p2"]);
});

Deno.test("two processes deliver each notification once, also after the application was down", async () => {
  const fixture = createFixture();
  const both = () =>
    Promise.all([fixture.outbox.deliver(), fixture.other.deliver()]);
  for (let n = 0; n < 5; n++) {
    for (const outbox of [fixture.outbox, fixture.other]) {
      await outbox.add(noteOf("wiki", `p${n}`, 0));
    }
  }
  fixture.broken.add("wiki");
  await both();
  fixture.broken.clear();
  assertEquals(fixture.delivered, []);
  // The pause after one failure is a second.
  fixture.atMs += 1_000;
  await both();
  const subjects = fixture.delivered.map(({ subject }) => subject);
  assertEquals(subjects.toSorted(), ["p0", "p1", "p2", "p3", "p4"]);
});

Deno.test("listing many notifications lets other work run in between", async () => {
  const fixture = createFixture();
  const { outbox } = fixture;
  fixture.broken.add("wiki");
  for (let n = 0; n < 5_000; n++) await outbox.add(noteOf("wiki", `p${n}`, 0));
  let count = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; count++) await turns();
  })();
  await outbox.deliver();
  isOver = true;
  await counting;
  assert(count >= 25, `${count} turns`);
});

Deno.test("a notification that finds no place is sent once and refuses nothing", async () => {
  const store = createMemoryStore();
  const fixture = createFixture({
    ...store,
    put: () =>
      Promise.reject(new SigError("rate_limited", { reason: "Cannot store" })),
  });
  await fixture.outbox.add(noteOf("wiki", "did:web:alice", 0));
  assertEquals(fixture.delivered.length, 1);
});
