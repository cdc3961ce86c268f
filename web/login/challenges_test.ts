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
  REMEMBER_MS,
} from "./challenges.ts";

// promise: What strangers leave in the login's store is limited, and more so
//   for each client.

/** Challenges of two processes over one store. */
interface Opened {
  readonly store: Challenges;
  readonly other: Challenges;
}

/** Defines a test with a memory store; for the other drivers see `single_use_test.ts`. */
function rule(name: string, hold: (opened: Opened) => Promise<void>): void {
  Deno.test(`challenges: ${name}`, async () => {
    const store = createMemoryStore();
    await hold({ store: challengesIn(store), other: challengesIn(store) });
  });
}

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

rule(
  "every connection reads a created challenge",
  async ({ store, other }) => {
    const record = recordOf({ subject: "did:web:alice.example" });
    await store.create(record, after(0));
    const expected = { state: "issued", record } as const;
    assertEquals(await store.read(record.challenge_id, after(0)), expected);
    assertEquals(await other.read(record.challenge_id, after(0)), expected);
  },
);

rule("an unknown challenge is not found", async ({ store }) => {
  const { challenge_id } = recordOf();
  const at = after(0);
  assertEquals(await store.read(challenge_id, at), { state: "not_found" });
  assertEquals(await store.countFailure(challenge_id, at), "not_found");
  assertEquals(await store.consume(challenge_id, at), "not_found");
  // The calls must not have created it.
  assertEquals(await store.read(challenge_id, at), { state: "not_found" });
});

rule("rejects an existing id, even of a used challenge", async ({ store }) => {
  const record = recordOf();
  await store.create(record, after(0));
  const again = () => store.create(record, after(0));
  await assertRejects(again, RangeError, "its id is taken");
  assertEquals(
    await store.consume(record.challenge_id, after(0)),
    "consumed",
  );
  await assertRejects(again, RangeError, "its id is taken");
  assertEquals(await store.consume(record.challenge_id, after(0)), "used");
});

rule(
  "exactly one of 100 concurrent uses succeeds",
  async ({ store, other }) => {
    const { challenge_id } = await create(store);
    const answers = await Promise.all(
      Array.from(
        { length: 100 },
        (_, i) => (i % 2 ? store : other).consume(challenge_id, after(1)),
      ),
    );
    assertEquals(count(answers, "consumed"), 1);
    assertEquals(count(answers, "used"), 99);
    assertEquals(await store.read(challenge_id, after(1)), { state: "used" });
  },
);

rule("the fifth failure burns; a use can't undo it", async ({ store }) => {
  const { challenge_id } = await create(store);
  for (let i = 1; i <= 4; i++) {
    assertEquals(
      await store.countFailure(challenge_id, after(i)),
      "issued",
    );
  }
  assertEquals(
    (await store.read(challenge_id, after(5))).state,
    "issued",
  );
  for (let i = 5; i <= 7; i++) {
    assertEquals(
      await store.countFailure(challenge_id, after(i)),
      "burned",
    );
    assertEquals(await store.consume(challenge_id, after(i)), "burned");
    assertEquals(
      await store.read(challenge_id, after(i)),
      { state: "burned" },
    );
  }
});

rule("counts all concurrent failures", async ({ store, other }) => {
  for (const failures of [4, 5]) {
    const { challenge_id } = await create(store);
    await Promise.all(
      Array.from(
        { length: failures },
        (_, i) => (i % 2 ? store : other).countFailure(challenge_id, after(1)),
      ),
    );
    const { state } = await store.read(challenge_id, after(1));
    assertEquals(state, failures === 5 ? "burned" : "issued");
  }
});

rule("expires exactly at its expiry", async ({ store }) => {
  const { challenge_id } = await create(store);
  const { challenge_id: early } = await create(store);
  const state = async (ms: number) =>
    (await store.read(challenge_id, after(ms))).state;
  assertEquals(await state(TTL_MS - 1), "issued");
  assertEquals(await store.consume(early, after(TTL_MS - 1)), "consumed");
  for (const ms of [TTL_MS, TTL_MS + 1]) {
    assertEquals(await state(ms), "expired");
    assertEquals(await store.consume(challenge_id, after(ms)), "expired");
    assertEquals(
      await store.countFailure(challenge_id, after(ms)),
      "expired",
    );
  }
  // The caller provides the time, so these calls have not changed the
  // challenge.
  assertEquals(await state(0), "issued");
});

rule("used precedes burned, burned precedes expired", async ({ store }) => {
  const { challenge_id: used } = await create(store);
  const { challenge_id: burned } = await create(store);
  for (let i = 0; i < 5; i++) {
    await store.countFailure(burned, after(0));
    if (i === 3) await store.countFailure(used, after(0));
  }
  await store.consume(used, after(0));
  for (const ms of [TTL_MS, TTL_MS + REMEMBER_MS - 1]) {
    assertEquals(await store.read(used, after(ms)), { state: "used" });
    assertEquals(await store.read(burned, after(ms)), { state: "burned" });
    assertEquals(await store.consume(used, after(ms)), "used");
    assertEquals(await store.consume(burned, after(ms)), "burned");
  }
});

rule(
  "is not found from 60 s after its expiry, in every state",
  async ({ store }) => {
    const open = await create(store);
    const used = await create(store);
    const burned = await create(store);
    await store.consume(used.challenge_id, after(0));
    for (let i = 0; i < 5; i++) {
      await store.countFailure(burned.challenge_id, after(0));
    }
    const all = [open, used, burned];
    const last = after(TTL_MS + REMEMBER_MS - 1);
    for (const { challenge_id } of all) {
      const { state } = await store.read(challenge_id, last);
      assertNotEquals(state, "not_found");
    }
    for (const { challenge_id } of all) {
      for (const ms of [TTL_MS + REMEMBER_MS, TTL_MS + REMEMBER_MS + 5_000]) {
        assertEquals(
          await store.read(challenge_id, after(ms)),
          { state: "not_found" },
        );
        assertEquals(
          await store.countFailure(challenge_id, after(ms)),
          "not_found",
        );
        assertEquals(
          await store.consume(challenge_id, after(ms)),
          "not_found",
        );
      }
    }
  },
);

rule("an invalid date leaves no challenge open", async ({ store }) => {
  const { challenge_id } = await create(store);
  const never = new Date(NaN);
  for (const ask of ["read", "consume", "countFailure"] as const) {
    let answer: unknown;
    try {
      answer = await store[ask](challenge_id, never);
    } catch (error) {
      answer = error;
    }
    assertNotEquals(answer, "consumed");
    assertNotEquals((answer as { state?: string }).state, "issued");
  }
  assertEquals(await store.consume(challenge_id, after(0)), "consumed");
});

async function create(store: Challenges): Promise<ChallengeRecord> {
  const record = recordOf();
  await store.create(record, after(0));
  return record;
}

function count(answers: readonly unknown[], wanted: unknown): number {
  return answers.filter((answer) => answer === wanted).length;
}

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
  const open = challengesIn(store);
  for (let i = 0; i < 100_000; i++) await open.create(recordOf(), after(0));
  const error = await expectSigError(
    () => open.create(recordOf(), after(0)),
    "rate_limited",
    "Cannot store challenge: the limit is reached",
  );
  assertEquals(typeof error.context.retry_after_seconds, "number");
  const pages = challengesIn(store, PAGE_CHALLENGE);
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
