import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { acknowledgePin, listPins, type PinStore, removePin } from "../pins.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { createConsumer } from "../create_consumer.ts";
import { openSource, parseSource } from "../read/source.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  feedOf,
  importTestKeys,
  makeDocuments,
  makeLines,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";
import { watchIssuer as watch, type WatchOptions } from "./watch.ts";

const [key] = await importTestKeys();
const now = () => new Date("2026-06-01T00:00:00Z");

/** What one look of a new process hands out. */
async function look(
  { server }: WatchedIssuer,
  pins?: PinStore,
  options: WatchOptions = {},
): Promise<readonly number[]> {
  const consumer = createConsumer({
    issuers: [server.did],
    allowPrivate: true,
    now,
    pins,
  });
  const seen: number[] = [];
  const events = consumer.watch(server.did, { once: true, ...options });
  for await (const { sequence, event } of events) {
    assertEquals(event.sequence, sequence);
    seen.push(sequence);
  }
  return seen;
}

/** An issuer whose feed has `n` lines, of which some are published. */
async function issuerOf(n: number, published: number) {
  const issuer = await watchIssuer(n, key!);
  const publish = (count: number) =>
    issuer.publish(issuer.lines.slice(0, count));
  publish(published);
  return { issuer, publish };
}

/** Sees that another history is served, and accepts it. */
async function accept(pins: PinStore, did: string): Promise<void> {
  const options = { allowPrivate: true, pins };
  const consumer = createConsumer({ ...options, issuers: [did], now });
  await expectSigError(
    () => consumer.verify(did),
    "feed_rewritten",
    "Cannot trust feed",
  );
  const reason = "restored";
  await acknowledgePin(pins, did, { ...options, reason, now: now() });
}

Deno.test("a sequence to begin with is for a new cursor, within the feed", async () => {
  const { issuer } = await issuerOf(3, 3);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  const error = await expectSigError(
    () => look(issuer, pins, { from: 5 }),
    "invalid_request",
    "Cannot watch from sequence 5: the next event of the feed is 4",
  );
  assertEquals(error.context.flag, "--from");
  // Nothing was moved.
  assertEquals(await look(issuer, pins, { from: 2 }), [2, 3]);
  for (const from of [1, 3, 4]) {
    await expectSigError(
      () => look(issuer, pins, { from }),
      "invalid_request",
      "Cannot watch from a sequence: the cursor default is at event 3",
    );
  }
});

Deno.test("a cursor that was altered is store_unavailable", async () => {
  const { issuer } = await issuerOf(3, 3);
  await using _ = issuer;
  await using file = await openPinFile();
  await look(issuer, file.pins, { from: 1 });
  const database = new DatabaseSync(file.path);
  const { changes } = database.prepare(
    "UPDATE record SET text=replace(text, '\"sequence\":3', '\"sequence\":2') WHERE kind='cursor'",
  ).run();
  assertEquals(changes, 1);
  database.close();
  await expectSigError(
    () => look(issuer, file.pins),
    "store_unavailable",
    `Cannot use store ${file.path}: the cursor default is damaged`,
  );
});

Deno.test("a new cursor begins at the feed's end, and then each event comes once", async () => {
  const { issuer, publish } = await issuerOf(6, 2);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  assertEquals(await look(issuer, pins), []);
  publish(4);
  assertEquals(await look(issuer, pins), [3, 4]);
  assertEquals(await look(issuer, pins), []);
  publish(6);
  assertEquals(await look(issuer, pins), [5, 6]);
  // Cursors are not listed as issuers.
  assertEquals((await listPins(pins)).map(({ issuer }) => issuer), [
    issuer.server.did,
  ]);
});

Deno.test("each cursor has its own place, also after others verified the events", async () => {
  const { issuer, publish } = await issuerOf(5, 3);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  assertEquals(await look(issuer, pins, { from: 2, cursor: "a" }), [2, 3]);
  assertEquals(await look(issuer, pins, { from: 1, cursor: "b" }), [1, 2, 3]);
  publish(5);
  assertEquals(await look(issuer, pins, { cursor: "b" }), [4, 5]);
  assertEquals(await look(issuer, pins, { cursor: "a" }), [4, 5]);
  assertEquals(await look(issuer, pins, { from: 6, cursor: "c" }), []);
  assertEquals(await look(issuer, pins, { cursor: "c" }), []);
});

Deno.test("an event whose turn did not end well comes again, and none behind it is skipped", async () => {
  const { issuer } = await issuerOf(3, 3);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  const { did } = issuer.server;
  const options = { issuers: [did], allowPrivate: true, now, pins };
  await assertRejects(
    async () => {
      const events = createConsumer(options).watch(did, {
        from: 1,
        once: true,
      });
      for await (const { sequence } of events) {
        if (sequence === 2) throw new Error("not done");
      }
    },
    Error,
    "not done",
  );
  assertEquals(await look(issuer, pins), [2, 3]);
});

Deno.test("a history that is taken back or another one ends it, with a memory and without", async () => {
  for (const forget of [false, true]) {
    const { issuer, publish } = await issuerOf(3, 3);
    await using _ = issuer;
    await using file = await openPinFile();
    const { pins } = file;
    await look(issuer, pins, { from: 1 });
    // The issuer is forgotten, the cursor is not.
    if (forget) await removePin(pins, issuer.server.did);
    publish(1);
    const looking = () => look(issuer, pins);
    await expectSigError(looking, "feed_rolled_back", "Cannot");
    const other = await issuer.line(3, key!, { event_id: "another" });
    issuer.publish([...issuer.lines.slice(0, 2), other]);
    await expectSigError(looking, "feed_rewritten", "Cannot");
    publish(3);
    // Where it was forgotten, the other history is the remembered one by now.
    if (!forget) assertEquals(await look(issuer, pins), []);
  }
});

Deno.test("another history of the same length, accepted by somebody else, ends it", async () => {
  const { issuer } = await issuerOf(3, 3);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  const { did } = issuer.server;
  await look(issuer, pins, { from: 1 });
  const other = await issuer.line(3, key!, { event_id: "another" });
  issuer.publish([...issuer.lines.slice(0, 2), other]);
  await accept(pins, did);
  await expectSigError(
    () => look(issuer, pins),
    "feed_rewritten",
    "event 3 is another one than was seen",
  );
});

for (const rewritten of [1, 2, 3]) {
  Deno.test(`an accepted history in which event ${rewritten} of 3 says something else is not gone on with by who saw it`, async () => {
    const { issuer } = await issuerOf(4, 2);
    await using _ = issuer;
    await using file = await openPinFile();
    const { pins } = file;
    const { did } = issuer.server;
    await look(issuer, pins, { from: 1, cursor: "late" });
    issuer.publish(issuer.lines.slice(0, 3));
    await look(issuer, pins, { from: 1, cursor: "soon" });
    // The same event_id, so only what it says tells them apart.
    const other = await issuer.line(rewritten, key!, { roles: ["other"] });
    const lines = [...issuer.lines];
    lines[rewritten - 1] = other;
    issuer.publish(lines);
    await accept(pins, did);
    const refused = (cursor: string, seen: number) =>
      expectSigError(
        () => look(issuer, pins, { cursor }),
        "feed_rewritten",
        `Cannot watch: events up to ${seen} were seen that are others in the ` +
          "history which was accepted since",
      );
    await refused("soon", 3);
    // Nobody who saw nothing of it is kept from going on.
    if (rewritten === 3) {
      assertEquals(await look(issuer, pins, { cursor: "late" }), [3, 4]);
    } else await refused("late", 2);
  });
}

Deno.test("two that watch with one cursor are told", async () => {
  const { issuer, publish } = await issuerOf(4, 2);
  await using _ = issuer;
  await using file = await openPinFile();
  const { pins } = file;
  await look(issuer, pins);
  publish(4);
  const { did } = issuer.server;
  const options = { issuers: [did], allowPrivate: true, now, pins };
  const first = createConsumer(options).watch(did, { once: true });
  await expectSigError(
    async () => {
      for await (const { sequence } of first) {
        if (sequence === 3) await look(issuer, pins);
      }
    },
    "store_unavailable",
    "another process moves the cursor default too",
  );
});

Deno.test("an issuer that can't be reached is tried again, ever more rarely", async () => {
  const { issuer, publish } = await issuerOf(3, 2);
  await using _ = issuer;
  const { server } = issuer;
  const { did } = server;
  const metadata = server.documents.get(PATHS.metadata)!;
  server.documents.delete(PATHS.metadata);
  const failures: number[] = [];
  const stop = new AbortController();
  const events = createConsumer({ issuers: [did], allowPrivate: true, now })
    .watch(did, {
      intervalMs: 20,
      from: 1,
      signal: stop.signal,
      onRetry(_error, waitMs) {
        if (failures.push(waitMs) === 4) {
          server.documents.set(PATHS.metadata, metadata);
        }
      },
    });
  const seen: number[] = [];
  for await (const { sequence } of events) {
    seen.push(sequence);
    if (sequence === 2) publish(3);
    if (sequence === 3) stop.abort();
  }
  assertEquals(seen, [1, 2, 3]);
  assertEquals(failures.length, 4);
  // 75 to 100 % of 20, 40, 80 and 160 ms.
  assert(failures.every((ms, i) => ms >= 15 * 2 ** i && ms <= 20 * 2 ** i));
  server.documents.delete(PATHS.metadata);
  await expectSigError(() => look(issuer), "fetch_status", "Cannot fetch");
});

Deno.test("a folder is followed as well, and its history compared by the cursor alone", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const lines = await makeLines(4, key!);
    const all = makeDocuments({ keys: [key!], lines: lines.slice(0, 2) });
    for (const [path, bytes] of all) {
      const file = folder + path;
      await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.writeFile(
        file,
        typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
      );
    }
    await using file = await openPinFile();
    const { pins } = file;
    const location = openSource(parseSource(folder));
    const look = async (options: WatchOptions = {}) => {
      const seen: number[] = [];
      const told = { now, pins, place: folder, once: true, ...options };
      for await (const { sequence } of watch(location, told)) {
        seen.push(sequence);
      }
      return seen;
    };
    const publish = (some: readonly string[]) =>
      Deno.writeFile(folder + PATHS.feed, feedOf(some));
    assertEquals(await look({ from: 1 }), [1, 2]);
    await publish(lines);
    assertEquals(await look(), [3, 4]);
    assertEquals(await look(), []);
    await publish(lines.slice(0, 3));
    await expectSigError(look, "feed_rolled_back", "Cannot");
    await publish(lines);
    assertEquals(await look(), []);
    await expectSigError(
      () => look({ cursor: "no such/name" }),
      "invalid_request",
      "Cannot watch: a cursor's name",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
