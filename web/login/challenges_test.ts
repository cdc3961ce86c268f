/** The lifecycle of a challenge. */

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { SigError } from "@sig/core";
import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { CHALLENGE, PAGE_CHALLENGE } from "../store/kinds.ts";
import {
  type ChallengeRecord,
  type Challenges,
  challengesIn,
  type ChallengeState,
  REMEMBER_MS,
} from "./challenges.ts";

// promise: What strangers leave in the login's store is limited, and more so
//   for each client.

const NOW_MS = Date.parse("2026-01-31T09:00:00Z");
const TTL_MS = 300_000;

/** Returns the time `ms` after the creation of the challenges. */
function after(ms: number): Date {
  return new Date(NOW_MS + ms);
}

/** Returns a record with a new id, valid for 300 s; `more` overrides members. */
function recordOf(more: Partial<ChallengeRecord> = {}): ChallengeRecord {
  return {
    challenge_id: crypto.randomUUID().replaceAll("-", ""),
    audience: "https://shop.example",
    nonce_sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
    scopes: ["email", "profile"],
    subject: null,
    expires_at: "2026-01-31T09:05:00Z",
    ...more,
  };
}

/** Challenges of two processes over one store. */
function openTwice() {
  const store = createMemoryStore();
  return { store: challengesIn(store), other: challengesIn(store) };
}

async function create(store: Challenges): Promise<string> {
  const record = recordOf();
  await store.create(record, after(0));
  return record.challenge_id;
}

const fail = async (store: Challenges, id: string, times: number) => {
  for (let i = 0; i < times; i++) await store.countFailure(id, after(i));
};
const use = (store: Challenges, id: string) => store.consume(id, after(0));

const EXPIRED = TTL_MS;
const REMOVED = TTL_MS + REMEMBER_MS;

/** What happened to a challenge, and its state at times after its creation. */
const STATES: readonly (readonly [
  what: string,
  happens: (store: Challenges, id: string) => Promise<unknown>,
  states: Readonly<Record<number, ChallengeState>>,
])[] = [
  ["nothing", () => Promise.resolve(), {
    [EXPIRED - 1]: "issued",
    [EXPIRED]: "expired",
    [EXPIRED + 1]: "expired",
    [REMOVED - 1]: "expired",
    [REMOVED]: "not_found",
    [REMOVED + 5_000]: "not_found",
  }],
  ["four failures", (store, id) => fail(store, id, 4), {
    [5]: "issued",
    [EXPIRED - 1]: "issued",
    [EXPIRED]: "expired",
    [REMOVED]: "not_found",
  }],
  ["five failures", (store, id) => fail(store, id, 5), {
    [5]: "burned",
    [EXPIRED]: "burned",
    [REMOVED - 1]: "burned",
    [REMOVED]: "not_found",
  }],
  ["a use", use, {
    [0]: "used",
    [EXPIRED]: "used",
    [REMOVED - 1]: "used",
    [REMOVED]: "not_found",
  }],
  ["failures and a use", async (store, id) => {
    await fail(store, id, 4);
    await use(store, id);
    await fail(store, id, 4);
  }, { [5]: "used", [EXPIRED]: "used", [REMOVED]: "not_found" }],
];

Deno.test("used precedes burned, burned precedes expired, and nothing changes a closed challenge", async (t) => {
  for (const [what, happens, states] of STATES) {
    await t.step(`after ${what}`, async () => {
      const { store, other } = openTwice();
      const id = await create(store);
      await happens(store, id);
      for (const [ms, state] of Object.entries(states)) {
        const at = after(Number(ms));
        if (state !== "issued") {
          assertEquals(await store.consume(id, at), state);
          assertEquals(await store.countFailure(id, at), state);
        }
        assertEquals((await other.read(id, at)).state, state);
      }
    });
  }
  await t.step("up to its last millisecond it can be used", async () => {
    const { store } = openTwice();
    const used = await store.consume(await create(store), after(EXPIRED - 1));
    assertEquals(used, "consumed");
  });
});

Deno.test("every connection reads a created challenge, whose id is taken even when it is used", async () => {
  const { store, other } = openTwice();
  const record = recordOf({ subject: "did:web:alice.example" });
  const id = record.challenge_id;
  for (const ask of ["consume", "countFailure"] as const) {
    // The calls must not create it.
    assertEquals(await store[ask](id, after(0)), "not_found");
  }
  await store.create(record, after(0));
  for (const each of [store, other]) {
    assertEquals(await each.read(id, after(0)), { state: "issued", record });
  }
  const again = () => store.create(record, after(0));
  await assertRejects(again, RangeError, "its id is taken");
  assertEquals(await use(store, id), "consumed");
  await assertRejects(again, RangeError, "its id is taken");
  assertEquals(await use(store, id), "used");
});

// promise: Exactly one of any number of concurrent answers to a challenge
//   succeeds, with every store.
// Memory is enough here: every driver passes the contract of stores.

Deno.test("of concurrent calls exactly one use succeeds, and every failure counts", async () => {
  const { store, other } = openTwice();
  const atOnce = <T>(count: number, ask: (each: Challenges) => Promise<T>) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => ask(i % 2 ? store : other)),
    );
  const id = await create(store);
  const answers = await atOnce(100, (each) => each.consume(id, after(1)));
  assertEquals(
    answers.toSorted(),
    ["consumed", ...Array(99).fill("used")],
  );
  for (const failures of [4, 5]) {
    const failing = await create(store);
    await atOnce(failures, (each) => each.countFailure(failing, after(1)));
    const { state } = await store.read(failing, after(1));
    assertEquals(state, failures === 5 ? "burned" : "issued");
  }
});

Deno.test("an invalid date leaves no challenge open", async () => {
  const { store } = openTwice();
  const id = await create(store);
  const never = new Date(NaN);
  for (const ask of ["read", "consume", "countFailure"] as const) {
    const answer: unknown = await store[ask](id, never).catch((error) => error);
    assertNotEquals(answer, "consumed");
    assertNotEquals((answer as { state?: string }).state, "issued");
  }
  assertEquals(await use(store, id), "consumed");
});

/** Lists the ids in a store. */
async function idsIn(store: RecordStore, kind = CHALLENGE) {
  return (await store.list(kind, after(0))).records.map(({ id }) => id);
}

Deno.test("one client holds at most 4,096 challenges, and only its own oldest are displaced", async () => {
  const store = createMemoryStore();
  const challenges = challengesIn(store);
  const others = recordOf();
  await challenges.create(others, after(0), "192.0.2.2");
  const own = Array.from({ length: 4_098 }, () => recordOf());
  for (const record of own) {
    await challenges.create(record, after(0), "192.0.2.1");
  }
  const ids = new Set(await idsIn(store));
  assertEquals(ids.size, 4_097);
  for (const { challenge_id } of own.slice(0, 2)) {
    assert(!ids.has(challenge_id));
  }
  assert(ids.has(others.challenge_id) && ids.has(own.at(-1)!.challenge_id));
});

Deno.test("one client holds at most a quarter of the memory for challenges", async () => {
  const store = createMemoryStore();
  const challenges = challengesIn(store);
  const scopes = Array.from({ length: 32 }, (_, i) => `${i}`.padEnd(128, "x"));
  for (let i = 0; i < 4_000; i++) {
    await challenges.create(recordOf({ scopes }), after(0), "192.0.2.1");
  }
  const { records } = await store.list(CHALLENGE, after(0));
  const bytes = records.reduce((sum, { text }) => sum + text.length, 0);
  assert(bytes <= 16 * 1024 ** 2, `${bytes}`);
  assert(bytes > 15.9 * 1024 ** 2, `${bytes}`);
  // A record has at most 5 kB, whatever the request contains.
  assert(Math.max(...records.map(({ text }) => text.length)) < 5_000);
});

Deno.test("challenges of the open endpoint and of pages have separate limits", async () => {
  const store = createMemoryStore();
  for (const kind of [CHALLENGE, PAGE_CHALLENGE]) {
    assertEquals(kind.maxRecords, 100_000);
  }
  const open = challengesIn(store, { ...CHALLENGE, maxRecords: 10 });
  for (let i = 0; i < 10; i++) await open.create(recordOf(), after(0));
  const error = await expectSigError(
    () => open.create(recordOf(), after(0)),
    "rate_limited",
    "Cannot store challenge: the limit is reached",
  );
  assertEquals(typeof error.context.retry_after_seconds, "number");
  const pages = challengesIn(store, { ...PAGE_CHALLENGE, maxRecords: 10 });
  await pages.create(recordOf(), after(0));
  assertEquals((await idsIn(store, PAGE_CHALLENGE)).length, 1);
});

Deno.test("a refused challenge leaves nothing, and displaces none of its client's", async () => {
  const memory = createMemoryStore();
  let isFull = false;
  const taken: string[] = [];
  const challenges = challengesIn({
    ...memory,
    put: (...record) => isFull ? Promise.reject(FULL) : memory.put(...record),
    take(kind, id, at) {
      taken.push(id);
      return memory.take(kind, id, at);
    },
  });
  const first = recordOf();
  await challenges.create(first, after(0), "192.0.2.1");
  isFull = true;
  for (let i = 0; i < 5_000; i++) {
    await assertRejects(
      () => challenges.create(recordOf(), after(0), "192.0.2.1"),
      SigError,
    );
  }
  isFull = false;
  await challenges.create(recordOf(), after(0), "192.0.2.1");
  assertEquals(taken, []);
  const { state } = await challenges.read(first.challenge_id, after(0));
  assertEquals(state, "issued");
});

const FULL = new SigError("rate_limited", { reason: "Cannot store challenge" });
