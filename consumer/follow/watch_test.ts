// Watching a feed by cursors in a pin store.
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
import {
  type WatchedEvent,
  watchIssuer as watch,
  type WatchOptions,
} from "./watch.ts";

const [key] = await importTestKeys();
const now = () => new Date("2026-06-01T00:00:00Z");

/** The sequences of the events that are handed out. */
async function sequencesOf(events: AsyncIterable<WatchedEvent>) {
  const seen: number[] = [];
  for await (const { sequence, event } of events) {
    assertEquals(event.sequence, sequence);
    seen.push(sequence);
  }
  return seen;
}

interface Watched extends WatchedIssuer {
  readonly pins: PinStore;
  /** The path of the pin store. */
  readonly path: string;
  /** Publishes the first `n` lines. */
  publishFirst(n: number): void;
  /** What a new process watches. */
  events(options?: WatchOptions): AsyncIterable<WatchedEvent>;
  /** What one reading of a new process hands out. */
  look(options?: WatchOptions): Promise<readonly number[]>;
  /** Accepts the history that is served. */
  accept(): Promise<void>;
}

/** An issuer whose feed has `n` lines, of which some are published. */
async function withIssuer(
  n: number,
  published: number,
  work: (watched: Watched) => Promise<void>,
): Promise<void> {
  await using issuer = await watchIssuer(n, key);
  await using file = await openPinFile();
  const { did } = issuer;
  const { pins, path } = file;
  const policy = { allowPrivate: true, now };
  const create = () => createConsumer({ ...policy, issuers: [did], pins });
  const events = (options?: WatchOptions) => create().watch(did, options);
  const publishFirst = (count: number) =>
    issuer.publish(issuer.lines.slice(0, count));
  publishFirst(published);
  await work({
    ...{ ...issuer, pins, path, publishFirst, events },
    look: (options) => sequencesOf(events({ once: true, ...options })),
    async accept() {
      const verify = () => create().verify(did);
      await expectSigError(verify, "feed_rewritten", "Cannot trust feed");
      const options = { allowPrivate: true, reason: "restored", now: now() };
      await acknowledgePin(pins, did, options);
    },
  });
}

Deno.test("--from is for a new cursor, within the feed", () =>
  withIssuer(3, 3, async ({ look }) => {
    const error = await expectSigError(
      () => look({ from: 5 }),
      "invalid_request",
      "Cannot watch from sequence 5: the next event of the feed is 4",
    );
    assertEquals(error.context.flag, "--from");
    // The refused reading has not moved the cursor.
    assertEquals(await look({ from: 2 }), [2, 3]);
    for (const from of [1, 3, 4]) {
      await expectSigError(
        () => look({ from }),
        "invalid_request",
        "Cannot watch from a sequence: the cursor default is at event 3",
      );
    }
  }));

Deno.test("an altered cursor is store_unavailable", () =>
  withIssuer(3, 3, async ({ look, path }) => {
    await look({ from: 1 });
    const database = new DatabaseSync(path);
    const { changes } = database.prepare(
      "UPDATE record SET text=replace(text, '\"sequence\":3', '\"sequence\":2') WHERE kind='cursor'",
    ).run();
    assertEquals(changes, 1);
    database.close();
    await expectSigError(
      look,
      "store_unavailable",
      `Cannot use store ${path}: the cursor default is damaged`,
    );
  }));

Deno.test("a new cursor begins at the feed's end, and then each event comes once", () =>
  withIssuer(6, 2, async ({ look, publishFirst, pins, did }) => {
    assertEquals(await look(), []);
    publishFirst(4);
    assertEquals(await look(), [3, 4]);
    assertEquals(await look(), []);
    publishFirst(6);
    assertEquals(await look(), [5, 6]);
    // Cursors are not listed as issuers.
    assertEquals((await listPins(pins)).map(({ issuer }) => issuer), [did]);
  }));

Deno.test("each cursor has its own position, even if other cursors are ahead", () =>
  withIssuer(5, 3, async ({ look, publishFirst }) => {
    assertEquals(await look({ from: 2, cursor: "a" }), [2, 3]);
    assertEquals(await look({ from: 1, cursor: "b" }), [1, 2, 3]);
    publishFirst(5);
    assertEquals(await look({ cursor: "b" }), [4, 5]);
    assertEquals(await look({ cursor: "a" }), [4, 5]);
    assertEquals(await look({ from: 6, cursor: "c" }), []);
    assertEquals(await look({ cursor: "c" }), []);
  }));

Deno.test("an event whose handling failed comes again, and no later one is skipped", () =>
  withIssuer(3, 3, async ({ look, events }) => {
    const handle = async () => {
      for await (const { sequence } of events({ from: 1, once: true })) {
        if (sequence === 2) throw new Error("not done");
      }
    };
    await assertRejects(handle, Error, "not done");
    assertEquals(await look(), [2, 3]);
  }));

for (const isForgotten of [false, true]) {
  Deno.test(`a rolled back or rewritten history ends watching (pin removed: ${isForgotten})`, () =>
    withIssuer(3, 3, async (watched) => {
      const { look, lines, pins, did, publishFirst } = watched;
      await look({ from: 1 });
      // The pin is removed, the cursor is not.
      if (isForgotten) await removePin(pins, did);
      publishFirst(1);
      await expectSigError(look, "feed_rolled_back", "Cannot");
      const other = await watched.line(3, key, { event_id: "another" });
      watched.publish(lines.with(2, other));
      await expectSigError(look, "feed_rewritten", "Cannot");
      publishFirst(3);
      // After a removal the other history is the remembered one by now.
      if (!isForgotten) assertEquals(await look(), []);
    }));
}

Deno.test("another history of the same length, accepted elsewhere, ends watching", () =>
  withIssuer(3, 3, async (watched) => {
    await watched.look({ from: 1 });
    const other = await watched.line(3, key, { event_id: "another" });
    watched.publish(watched.lines.with(2, other));
    await watched.accept();
    await expectSigError(
      watched.look,
      "feed_rewritten",
      "event 3 is another one than was seen",
    );
  }));

for (const rewritten of [1, 2, 3]) {
  Deno.test(`after event ${rewritten} was rewritten and accepted, only a cursor before it continues`, () =>
    withIssuer(4, 2, async (watched) => {
      const { look, lines } = watched;
      await look({ from: 1, cursor: "late" });
      watched.publishFirst(3);
      await look({ from: 1, cursor: "soon" });
      // The same event_id, so that only the content differs.
      const other = await watched.line(rewritten, key, { roles: ["other"] });
      watched.publish(lines.with(rewritten - 1, other));
      await watched.accept();
      const refused = (cursor: string, seen: number) =>
        expectSigError(
          () => look({ cursor }),
          "feed_rewritten",
          `Cannot watch: events up to ${seen} were seen that are others in ` +
            "the history which was accepted since",
        );
      await refused("soon", 3);
      if (rewritten === 3) {
        assertEquals(await look({ cursor: "late" }), [3, 4]);
      } else await refused("late", 2);
    }));
}

Deno.test("two watchers of one cursor are an error", () =>
  withIssuer(4, 2, async ({ look, events, publishFirst }) => {
    await look();
    publishFirst(4);
    await expectSigError(
      async () => {
        for await (const { sequence } of events({ once: true })) {
          if (sequence === 3) await look();
        }
      },
      "store_unavailable",
      "another process moves the cursor default too",
    );
  }));

Deno.test("an issuer that can't be reached is tried again at growing intervals", async () => {
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

Deno.test("a folder is watched too, and its history compared with the cursor", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    const lines = await makeLines(4, key);
    await Deno.mkdir(`${folder}/.well-known/sig`, { recursive: true });
    const made = makeDocuments({ keys: [key], lines: lines.slice(0, 2) });
    for (const [path, bytes] of made) {
      if (typeof bytes !== "string") await Deno.writeFile(folder + path, bytes);
      else await Deno.writeTextFile(folder + path, bytes);
    }
    await using file = await openPinFile();
    const { pins } = file;
    const location = openSource(parseSource(folder));
    const look = (options: WatchOptions = {}) => {
      const asked = { now, pins, place: folder, once: true, ...options };
      return sequencesOf(watch(location, asked));
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
