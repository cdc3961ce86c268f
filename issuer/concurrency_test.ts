import { assert, assertEquals } from "@std/assert";
import { type Json, readJson } from "./testdata/documents.ts";
import {
  assertKept,
  init,
  placeTest as test,
  readFeed,
  runWorker,
  startWorker,
  upsert,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { turns } from "../tests/kit/wait.ts";

// promise: Two writers take turns.

test("processes append without loss or repetition", async ({ place }) => {
  const results = await Promise.all(
    ["a", "b", "c", "d", "e", "f"].map((name) =>
      runWorker(place, { work: "append", count: 20, name })
    ),
  );
  const events = await readFeed(place);
  for (const result of results) {
    assertEquals([result.code, result.lines.length], [0, 20], result.output);
    assertKept(result, events);
  }
  assertEquals(events.length, 120);
});

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

test("exactly one of several concurrent inits succeeds", async ({ place }) => {
  const made = await Promise.allSettled([1, 2, 3].map(() => init(place)));
  const refused = made.flatMap((each) =>
    each.status === "rejected" ? [each.reason] : []
  );
  assertEquals(refused.map(({ code }) => code), [
    "issuer_exists",
    "issuer_exists",
  ]);
  await (await place.open()).append(upsert());
  assertEquals((await readFeed(place)).length, 1);
}, { empty: true });

test("concurrent rotations add both keys, but the same kid only once, and events appended meanwhile verify", async ({ place }) => {
  const rotate = async (kid: string) =>
    await (await place.open()).rotateKey({ kid });
  const append = async () => {
    const issuer = await place.open();
    for (let n = 0; n < 20; n++) await issuer.append(upsert());
  };
  await Promise.all([append(), rotate("a"), rotate("b"), append()]);
  const { keys } = await readJson(place, "jwks.json") as { keys: Json[] };
  const [first, ...added] = keys.map(({ kid }) => kid);
  assertEquals([first, added.sort()], ["orgsign-1", ["a", "b"]]);
  assertEquals((await readFeed(place)).length, 40);
  const again = await Promise.allSettled([rotate("c"), rotate("c")]);
  const [refused, ...more] = again.flatMap((each) =>
    each.status === "rejected" ? [each.reason] : []
  );
  assertEquals([refused.code, more], ["kid_exists", []]);
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
