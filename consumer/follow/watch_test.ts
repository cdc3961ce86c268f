// Tests of watching a feed with cursors in a pin store.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { listPins, removePin } from "../pins.ts";
import { openSource, parseSource } from "../read/source.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import { watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { rememberIssuer } from "../testdata/remembered_issuer.ts";
import {
  type WatchedEvent,
  watchIssuer as watch,
  type WatchOptions,
} from "./watch.ts";

// promise: A watcher, killed at any step, gets no event of an invalid feed and
//   misses none.

const [key] = await importTestKeys();
const now = () => new Date("2026-06-01T00:00:00Z");

/** Returns the sequences of the yielded events. */
async function sequencesOf(events: AsyncIterable<WatchedEvent>) {
  const seen: number[] = [];
  for await (const { sequence, event } of events) {
    assertEquals(event.sequence, sequence);
    seen.push(sequence);
  }
  return seen;
}

/**
 * Starts an issuer whose feed has `n` lines, of which the first `published` are
 * served, and processes that watch it.
 */
async function setUp(n: number, published: number) {
  const folder = await tempFolder();
  const mirrorFolder = `${folder.path}/feeds`;
  const issuer = await rememberIssuer(n, { mirrorFolder });
  const publishFirst = (count: number) =>
    issuer.publish(issuer.lines.slice(0, count));
  publishFirst(published);
  /** Watches as a new process. */
  const events = (options?: WatchOptions) =>
    issuer.fresh().watch(issuer.did, options);
  return {
    ...{ ...issuer, publishFirst, events },
    /** Returns the sequences that one read of a new process yields. */
    readOnce: (options?: WatchOptions) =>
      sequencesOf(events({ once: true, ...options })),
    /** Serves another history, which another process acknowledges. */
    async replace(lines: readonly string[]) {
      issuer.publish(lines);
      const message = "Cannot trust feed";
      await expectSigError(issuer.verify, "feed_rewritten", message);
      await issuer.accept();
    },
    async [Symbol.asyncDispose]() {
      await issuer[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

Deno.test("--from needs a new cursor, and a sequence within the feed", async () => {
  await using watched = await setUp(3, 3);
  const { readOnce } = watched;
  const error = await expectSigError(
    () => readOnce({ from: 5 }),
    "invalid_request",
    "Cannot watch from sequence 5: the next event of the feed is 4",
  );
  assertEquals(error.context.flag, "--from");
  // The rejected read has not created a cursor.
  assertEquals(await readOnce({ from: 2 }), [2, 3]);
  for (const from of [1, 3, 4]) {
    await expectSigError(
      () => readOnce({ from }),
      "invalid_request",
      "Cannot watch from a sequence: the cursor default is at event 3",
    );
  }
});

Deno.test("a new cursor begins at the feed's end, and then yields each event once", async () => {
  await using watched = await setUp(6, 2);
  const { readOnce, publishFirst, pins, did } = watched;
  assertEquals(await readOnce(), []);
  publishFirst(4);
  assertEquals(await readOnce(), [3, 4]);
  assertEquals(await readOnce(), []);
  publishFirst(6);
  assertEquals(await readOnce(), [5, 6]);
  // Cursors are not listed as issuers.
  assertEquals((await listPins(pins)).map(({ issuer }) => issuer), [did]);
});

Deno.test("each cursor has its own position, even if other cursors are ahead", async () => {
  await using watched = await setUp(5, 3);
  const { readOnce, publishFirst } = watched;
  assertEquals(await readOnce({ from: 2, cursor: "a" }), [2, 3]);
  assertEquals(await readOnce({ from: 1, cursor: "b" }), [1, 2, 3]);
  publishFirst(5);
  assertEquals(await readOnce({ cursor: "b" }), [4, 5]);
  assertEquals(await readOnce({ cursor: "a" }), [4, 5]);
  assertEquals(await readOnce({ from: 6, cursor: "c" }), []);
  assertEquals(await readOnce({ cursor: "c" }), []);
});

Deno.test("an event whose handling failed is yielded again, and no later event is skipped", async () => {
  await using watched = await setUp(3, 3);
  const { readOnce, events } = watched;
  const handle = async () => {
    for await (const { sequence } of events({ from: 1, once: true })) {
      if (sequence === 2) throw new Error("not done");
    }
  };
  await assertRejects(handle, Error, "not done");
  assertEquals(await readOnce(), [2, 3]);
});

for (const isForgotten of [false, true]) {
  Deno.test(`a rolled back or rewritten history ends watching (pin removed: ${isForgotten})`, async () => {
    await using watched = await setUp(3, 3);
    const { readOnce, lines, pins, did, publishFirst } = watched;
    await readOnce({ from: 1 });
    // The pin is removed, the cursor is not.
    if (isForgotten) await removePin(pins, did);
    publishFirst(1);
    await expectSigError(readOnce, "feed_rolled_back", "Cannot");
    const other = await watched.line(3, key, { event_id: "another" });
    watched.publish(lines.with(2, other));
    await expectSigError(readOnce, "feed_rewritten", "Cannot");
    publishFirst(3);
    // After a removal, the pin is that of the other history.
    if (!isForgotten) assertEquals(await readOnce(), []);
  });
}

Deno.test("a different history of the same length, accepted by another process, ends watching", async () => {
  await using watched = await setUp(3, 3);
  await watched.readOnce({ from: 1 });
  const other = await watched.line(3, key, { event_id: "another" });
  await watched.replace(watched.lines.with(2, other));
  await expectSigError(
    watched.readOnce,
    "feed_rewritten",
    "event 3 differs from the event that was seen",
  );
});

Deno.test("a cursor is compared with its event, also without a pin", async () => {
  await using watched = await setUp(3, 2);
  const { readOnce, line, lines, publish, pins, did } = watched;
  await readOnce({ from: 1 });
  for (const [event_id, count] of [["another", 3], ["x".repeat(513), 2]]) {
    await removePin(pins, did);
    const other = await line(2, key, { event_id });
    publish(lines.with(1, other).slice(0, Number(count)));
    await expectSigError(
      readOnce,
      "feed_rewritten",
      "event 2 differs from the event that was seen",
    );
  }
});

Deno.test("an event_id that is too long to be kept is not compared", async () => {
  await using watched = await setUp(3, 3);
  const { readOnce, line, lines, publish, pins, did } = watched;
  const long = await line(2, key, { event_id: "x".repeat(513) });
  publish([lines[0]!, long]);
  await readOnce({ from: 1 });
  await removePin(pins, did);
  publish(lines.with(1, long));
  assertEquals(await readOnce(), [3]);
});

Deno.test("no event is taken from a tail that contradicts what another process has seen", async () => {
  await using watched = await setUp(5, 2);
  const { did, fresh, lines, line, publishFirst, server } = watched;
  const running = fresh({ mirrorFolder: undefined });
  const events = running.watch(did, { from: 1, intervalMs: 1 })
    [Symbol.asyncIterator]();
  const next = async () => (await events.next()).value?.event_id;
  const seen = [await next(), await next()];
  publishFirst(4);
  await watched.verify({ mirrorFolder: undefined });
  const others = await Promise.all(
    [3, 4, 5].map((sequence) =>
      line(sequence, key, { event_id: `other-${sequence}` })
    ),
  );
  const other = feedOf([...lines.slice(0, 2), ...others]);
  server.documents.set(PATHS.feed, (request) => {
    publishFirst(4);
    return server.respond(request, other);
  });
  seen.push(await next(), await next());
  publishFirst(5);
  seen.push(await next());
  await events.return!();
  assertEquals(seen, [1, 2, 3, 4, 5].map((n) => `event-${n}`));
});

for (const rewritten of [1, 2, 3]) {
  Deno.test(`after event ${rewritten} was rewritten and accepted, only a cursor before it continues`, async () => {
    await using watched = await setUp(4, 2);
    const { readOnce, lines } = watched;
    await readOnce({ from: 1, cursor: "late" });
    watched.publishFirst(3);
    await readOnce({ from: 1, cursor: "soon" });
    // The event_id stays the same; only the content differs.
    const other = await watched.line(rewritten, key, { roles: ["other"] });
    await watched.replace(lines.with(rewritten - 1, other));
    const refused = (cursor: string, seen: number) =>
      expectSigError(
        () => readOnce({ cursor }),
        "feed_rewritten",
        `Cannot watch: events up to ${seen} were seen, and a history ` +
          "that changes them was accepted since",
      );
    await refused("soon", 3);
    if (rewritten === 3) {
      assertEquals(await readOnce({ cursor: "late" }), [3, 4]);
    } else await refused("late", 2);
  });
}

Deno.test("two watchers of one cursor are an error", async () => {
  await using watched = await setUp(4, 2);
  const { readOnce, events, publishFirst } = watched;
  await readOnce();
  publishFirst(4);
  await expectSigError(
    async () => {
      for await (const { sequence } of events({ once: true })) {
        if (sequence === 3) await readOnce();
      }
    },
    "store_unavailable",
    "another process also moves the cursor default",
  );
});

Deno.test("an issuer that can't be reached is retried at growing intervals", async () => {
  await using issuer = await watchIssuer(3, key);
  const { did, lines, server: { documents } } = issuer;
  issuer.publish(lines.slice(0, 2));
  const metadata = documents.get(PATHS.metadata)!;
  documents.delete(PATHS.metadata);
  const waits: number[] = [];
  const stop = new AbortController();
  const events = issuer.consumer.watch(did, {
    ...{ intervalMs: 20, from: 1, signal: stop.signal },
    onRetry(_error, waitMs) {
      if (waits.push(waitMs) === 4) documents.set(PATHS.metadata, metadata);
    },
  });
  const seen: number[] = [];
  for await (const { sequence } of events) {
    seen.push(sequence);
    if (sequence === 2) issuer.publish(lines);
    if (sequence === 3) stop.abort();
  }
  assertEquals([seen, waits.length], [[1, 2, 3], 4]);
  // 75 to 100 % of 20, 40, 80 and 160 ms.
  assert(waits.every((ms, i) => ms >= 15 * 2 ** i && ms <= 20 * 2 ** i));
  documents.delete(PATHS.metadata);
  await expectSigError(
    () => sequencesOf(issuer.consumer.watch(did, { once: true })),
    "fetch_status",
    "Cannot fetch",
  );
});

Deno.test("a folder can be watched, and its history is compared with the cursor", async () => {
  await using temporary = await tempFolder();
  const folder = await Deno.realPath(temporary.path);
  const lines = await makeLines(4, key);
  await Deno.mkdir(`${folder}/.well-known/sig`, { recursive: true });
  const made = makeDocuments({ keys: [key], lines: lines.slice(0, 2) });
  for (const [path, bytes] of made) {
    if (typeof bytes !== "string") await Deno.writeFile(folder + path, bytes);
    else await Deno.writeTextFile(folder + path, bytes);
  }
  const pins = createMemoryStore();
  const location = openSource(parseSource(folder));
  const readOnce = (options: WatchOptions = {}) => {
    const asked = { now, pins, place: folder, once: true, ...options };
    return sequencesOf(watch(location, asked));
  };
  const publish = (some: readonly string[]) =>
    Deno.writeFile(folder + PATHS.feed, feedOf(some));
  assertEquals(await readOnce({ from: 1 }), [1, 2]);
  await publish(lines);
  assertEquals(await readOnce(), [3, 4]);
  assertEquals(await readOnce(), []);
  await publish(lines.slice(0, 3));
  await expectSigError(readOnce, "feed_rolled_back", "Cannot");
  await publish(lines);
  assertEquals(await readOnce(), []);
  await expectSigError(
    () => readOnce({ cursor: "no such/name" }),
    "invalid_request",
    "Cannot watch: a cursor's name",
  );
});
