import { assert, assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { createMemoryStore } from "./memory_store.ts";
import { recordOf, testStoreContract } from "./store_contract.ts";

const NOW_MS = Date.parse("2026-01-31T09:00:00Z");
const after = (ms: number) => new Date(NOW_MS + ms);

testStoreContract("memory", () => {
  const store = createMemoryStore();
  return Promise.resolve({ store, close: () => store.close() });
});

Deno.test("beyond 100,000 outstanding ones it says when to try again", async () => {
  const store = createMemoryStore();
  for (let i = 0; i < 100_000; i++) {
    await store.create(recordOf(), after(0));
  }
  const error = await expectSigError(
    () => store.create(recordOf(), after(1_000)),
    "rate_limited",
    "Cannot create challenge: too many are outstanding",
  );
  assertEquals(error.context.retry_after_seconds, 359);
  assertEquals(error.context.limit, 100_000);
  // When that time is over there is room.
  const expires_at = "2026-01-31T09:11:00Z";
  await store.create(recordOf({ expires_at }), after(360_000));
});

Deno.test("room comes with the next one that waits, not with a used one", async () => {
  const store = createMemoryStore({ maxOutstanding: 1 });
  const used = recordOf({ expires_at: "2026-01-31T09:00:30Z" });
  await store.create(used, after(0));
  await store.consume(used.challenge_id, after(0));
  const open = recordOf({ expires_at: "2026-01-31T09:15:00Z" });
  await store.create(open, after(0));
  const error = await expectSigError(
    () => store.create(recordOf(), after(0)),
    "rate_limited",
    "too many are outstanding",
  );
  assertEquals(error.context.retry_after_seconds, 960);
  const expires_at = "2026-01-31T09:20:00Z";
  await store.create(recordOf({ expires_at }), after(960_000));
});

Deno.test("a store full of remembered ones has room when the first is forgotten", async () => {
  const store = createMemoryStore({ maxRemembered: 1 });
  const { challenge_id, ...rest } = recordOf();
  await store.create({ challenge_id, ...rest }, after(0));
  await store.consume(challenge_id, after(0));
  const error = await expectSigError(
    () => store.create(recordOf(), after(0)),
    "rate_limited",
    "too many are outstanding",
  );
  assertEquals(error.context.retry_after_seconds, 360);
  const expires_at = "2026-01-31T09:11:00Z";
  await store.create(recordOf({ expires_at }), after(360_000));
});

Deno.test("a used challenge makes room for another, and is remembered", async () => {
  const store = createMemoryStore({ maxOutstanding: 1 });
  const first = recordOf();
  await store.create(first, after(0));
  await expectSigError(
    () => store.create(recordOf(), after(0)),
    "rate_limited",
    "too many are outstanding",
  );
  assertEquals(await store.consume(first.challenge_id, after(0)), "consumed");
  const second = recordOf();
  await store.create(second, after(0));
  for (let i = 0; i < 5; i++) {
    await store.countFailure(second.challenge_id, after(0));
  }
  await store.create(recordOf(), after(0));
  assertEquals(await store.consume(first.challenge_id, after(0)), "used");
  assertEquals(await store.consume(second.challenge_id, after(0)), "burned");
});

Deno.test("what is remembered is bounded in number and in characters", async () => {
  const few = createMemoryStore({ maxRemembered: 2 });
  for (let i = 0; i < 2; i++) {
    const record = recordOf();
    await few.create(record, after(0));
    await few.consume(record.challenge_id, after(0));
  }
  const full = "too many are outstanding";
  await expectSigError(
    () => few.create(recordOf(), after(0)),
    "rate_limited",
    full,
  );
  const record = recordOf();
  const maxRecordChars = JSON.stringify(record).length;
  const small = createMemoryStore({ maxRecordChars });
  await small.create(record, after(0));
  await expectSigError(
    () => small.create(recordOf(), after(0)),
    "rate_limited",
    full,
  );
  await small.consume(record.challenge_id, after(0));
  await small.create(recordOf(), after(0));
});

Deno.test("a clock that was ahead and is set back neither keeps nor drops", async () => {
  const store = createMemoryStore({ maxOutstanding: 2 });
  const day = 86_400_000;
  const ahead = recordOf({ expires_at: "2026-02-01T09:05:00Z" });
  await store.create(ahead, after(day));
  const record = recordOf();
  await store.create(record, after(0));
  assertEquals(
    (await store.read(record.challenge_id, after(1))).state,
    "issued",
  );
  // The first one is swept although the store has seen later seconds before.
  await expectSigError(
    () => store.create(recordOf(), after(2)),
    "rate_limited",
    "too many are outstanding",
  );
  await store.create(recordOf(), after(360_000));
});

Deno.test("memory is flat after expiry: rounds of 50,000 leave nothing behind", async () => {
  const worker = new URL("./testdata/memory_worker.ts", import.meta.url);
  const { code, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--no-prompt", "--v8-flags=--expose-gc"],
      worker.pathname,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).output();
  assertEquals(code, 0);
  const used: readonly number[] = JSON.parse(new TextDecoder().decode(stdout));
  const growth = used[3]! - used[0]!;
  assert(growth < 2 * 1024 ** 2, `grew by ${growth} bytes: ${used}`);
});
