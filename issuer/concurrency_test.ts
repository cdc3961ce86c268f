import { createFileStore } from "@sig/issuer";
import { assert, assertEquals } from "@std/assert";
import {
  assertKept,
  type Place,
  placeTest as test,
  readFeed,
  runWorker,
  startWorker,
  upsert,
  type WorkerResult,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { turns } from "../tests/kit/wait.ts";

// promise: Two writers take turns.

/**
 * Asserts that each acknowledged event is in the feed once, at its sequence.
 */
async function assertAll(
  place: Place,
  results: readonly WorkerResult[],
  total: number,
): Promise<void> {
  const events = await readFeed(place);
  assertEquals(events.length, total);
  for (const result of results) {
    assertEquals(result.code, 0, result.output);
    assertKept(result, events);
  }
}

for (const [processes, count] of [[2, 60], [6, 15]] as const) {
  test(`${processes} processes append ${count} events each, without loss or repetition`, async ({ place }) => {
    const results = await Promise.all(
      Array.from(
        { length: processes },
        (_, n) => runWorker(place, { work: "append", count, name: `p${n}` }),
      ),
    );
    await assertAll(place, results, processes * count);
    assertEquals(
      results.flatMap(({ lines }) => lines).length,
      processes * count,
    );
    const issuer = await place.open();
    const draft = upsert({ event_id: "p0-1", relationship_id: "p0-r1" });
    assertEquals((await issuer.append(draft)).repeated, true);
  });
}

test("killing concurrent writers loses no acknowledged event", async ({ place }) => {
  const steps = ["locked", "wrote-part", "written", "synced", "indexed"];
  const results = await Promise.all([
    runWorker(place, { work: "append", count: 30, name: "alive" }),
    ...steps.map((killAt, n) =>
      runWorker(place, {
        ...{ work: "append", count: 20, name: `dead${n}`, killAt },
        ...{ passes: 3 * n + 2, maxWriteBytes: 500 },
      })
    ),
  ]);
  const issuer = await place.open();
  await issuer.append(upsert());
  const events = await readFeed(place);
  for (const result of results) assertKept(result, events);
  assertEquals(results[0]?.lines.length, 30, results[0]?.output);
});

test("exactly one of two concurrent inits succeeds", async ({ place }) => {
  const results = await Promise.all(
    [1, 2, 3].map(() => runWorker(place, { work: "init" })),
  );
  assertEquals(
    results.map(({ lines }) => lines[0]?.split(" ", 2).join(" ")).sort(),
    ["initialized", "refused issuer_exists", "refused issuer_exists"],
    results.map(({ output }) => output).join("\n"),
  );
  await (await place.open()).append(upsert());
  assertEquals((await readFeed(place)).length, 1);
}, { empty: true });

test("concurrent rotations add both keys, but the same kid only once", async ({ place }) => {
  const [a, b] = await Promise.all([
    runWorker(place, { work: "rotate", name: "key-a" }),
    runWorker(place, { work: "rotate", name: "key-b" }),
  ]);
  assertEquals([a?.code, b?.code], [0, 0], `${a?.output}${b?.output}`);
  const jwks = await Deno.readTextFile(`${place.dir}/.well-known/jwks.json`);
  const { keys } = JSON.parse(jwks) as { keys: { kid: string }[] };
  assertEquals(keys.map(({ kid }) => kid).sort(), [
    "key-a",
    "key-b",
    "orgsign-1",
  ]);
  assertEquals((await readFeed(place)).length, 2);
  const again = await Promise.all(
    [1, 2].map(() => runWorker(place, { work: "rotate", name: "key-c" })),
  );
  const codes = again.map(({ lines }) => lines[0]?.slice(0, 13)).sort();
  assertEquals(codes, ["refused kid_e", "rotated key-c"]);
  await readFeed(place);
});

test("events appended during a rotation verify with the published keys", async ({ place }) => {
  const results = await Promise.all([
    runWorker(place, { work: "append", count: 40, name: "a" }),
    runWorker(place, { work: "rotate", name: "key-2" }),
    runWorker(place, { work: "append", count: 40, name: "b" }),
  ]);
  await assertAll(place, results, 81);
});

test("a reader during appends sees complete events and at most one unfinished line", async ({ place }) => {
  let running = true;
  const writing = runWorker(place, {
    work: "append",
    count: 60,
    name: "a",
    maxWriteBytes: 256,
  }).finally(() => running = false);
  let last = "";
  let reads = 0;
  while (running) {
    const text = await Deno.readTextFile(place.feed);
    assert(text.startsWith(last), "what was there stays as it was");
    for (const line of text.split("\n").slice(0, -1)) JSON.parse(line);
    last = text;
    reads++;
    await turns();
  }
  assertEquals((await writing).code, 0);
  assert(reads > 3);
  assertEquals((await readFeed(place)).length, 60);
});

test("waits for a lock that another process holds, then reports it", async ({ place }) => {
  const issuer = await place.open({ lockTimeoutMs: 100 });
  await using holder = startWorker(place, { work: "hold" });
  await holder.said("holding\n");
  await expectSigError(
    issuer.append(upsert()),
    "feed_locked",
    "another writer holds the feed's lock (waited 100 ms)",
  );
  assertEquals(await Deno.readTextFile(place.feed), "");
  await holder.closeInput();
  await holder.ended();
  assertEquals((await issuer.append(upsert())).sequence, 1);
});

test("deleting a held lock file does not admit a second writer", async ({ place }) => {
  const inside = Promise.withResolvers<void>();
  const leave = Promise.withResolvers<void>();
  const issuer = await place.open();
  const store = createFileStore(place.dir);
  const held = store.exclusively({ timeoutMs: 1_000 }, async (writer) => {
    await writer.openFeed("/.well-known/sig/events.jsonl");
    inside.resolve();
    await leave.promise;
  });
  await inside.promise;
  await Deno.remove(`${place.dir}/.sig/lock`);
  const quick = await place.open({ lockTimeoutMs: 50 });
  await expectSigError(quick.append(upsert()), "feed_locked", "waited 50 ms");
  const waiting = issuer.append(upsert());
  leave.resolve();
  await held;
  assertEquals((await waiting).sequence, 1);
  await store.close();
});
