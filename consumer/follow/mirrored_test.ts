// Reads through a copy on disk: what is fetched, verified and remembered.
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import { acknowledgePin, removePin, showPin } from "./manage_pins.ts";
import { sha256Hex } from "../memory/pin.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { feedOf, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  QUESTION,
  START_MS,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key] = await importTestKeys();
const DAY_MS = 24 * 60 * 60 * 1000;
const ROLLED_BACK = ["feed_rolled_back", "Cannot trust feed"] as const;
const REWRITTEN = [
  "feed_rewritten",
  "is not the one that is remembered",
] as const;

/** An issuer, and processes that share a pin store and a folder of copies. */
async function setUp(events = 40) {
  const watched = await watchIssuer(events, key);
  const folder = await tempFolder();
  const { did, server } = watched;
  const pins = createMemoryStore();
  const mirrorFolder = `${folder.path}/feeds`;
  let nowMs = START_MS;
  const fresh = (options: Partial<ConsumerOptions> = {}) =>
    createConsumer({
      ...{ issuers: [did], allowPrivate: true, maxAgeMs: 0 },
      ...{ pins, mirrorFolder, now: () => new Date(nowMs) },
      ...options,
    });
  return {
    ...{ ...watched, pins, mirrorFolder, fresh },
    verify: (options?: Partial<ConsumerOptions>) => fresh(options).verify(did),
    wait: (ms: number) => nowMs += ms,
    /** Returns statuses and bytes of the feed's responses so far. */
    fetched: () =>
      server.of(PATHS.feed).map(({ status, bytes }) => [status, bytes]),
    /** Returns the files of the copies. */
    files: () =>
      [...Deno.readDirSync(mirrorFolder)].map(({ name }) =>
        `${mirrorFolder}/${name}`
      ),
    async [Symbol.asyncDispose]() {
      await watched[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a new process fetches only what is new, and verifies everything", async () => {
  await using issuer = await setUp();
  await issuer.verify();
  assertEquals((await issuer.verify()).feed.verifiedEvents, 40);
  const lines = [...issuer.lines, await issuer.line(41, key)];
  issuer.publish(lines);
  const { feed, state } = await issuer.verify();
  assertEquals([feed.verifiedEvents, state.last_sequence], [41, 41]);
  assertEquals(feed.sha256, await sha256Hex(feedOf(lines)));
  const [first, second, third] = issuer.fetched();
  assertEquals([first?.[0], second?.[0], third?.[0]], [200, 304, 206]);
  assert(Number(third?.[1]) < feedOf(lines).length / 1.5);
  assertEquals(Deno.statSync(issuer.mirrorFolder).mode! & 0o777, 0o700);
});

for (const full of [false, true]) {
  Deno.test(`a contradiction states the first event that differs (full: ${full})`, async () => {
    await using issuer = await setUp(3);
    const { did, pins, line, lines, publish } = issuer;
    await issuer.verify();
    const { prefix_sha256: old } = await showPin(pins, did);
    publish(lines.with(1, await line(2, key, { roles: ["deploy", "x"] })));
    for (let process = 0; process < 2; process++) {
      const { context } = await expectSigError(
        () => issuer.verify({ full }),
        "feed_rewritten",
        "event 2 is not the one that is remembered",
      );
      assertEquals([context.sequence, context.remembered_sha256], [2, old]);
    }
    const { incident, sequence } = await showPin(pins, did);
    assertEquals([incident?.code, sequence], ["feed_rewritten", 3]);
    assertStringIncludes(incident?.detail ?? "", "event 2 is not the one");
    assertStringIncludes(incident?.detail ?? "", `was ${old}, is `);
  });
}

Deno.test("the whole feed is compared once a day, and after the clock was set back", async () => {
  await using issuer = await setUp();
  const statusAfter = async (ms: number) => {
    issuer.wait(ms);
    await issuer.verify();
    return issuer.fetched().at(-1)?.[0];
  };
  assertEquals(await statusAfter(0), 200);
  assertEquals(await statusAfter(DAY_MS - 1), 304);
  assertEquals(await statusAfter(1), 200);
  assertEquals(await statusAfter(0), 304);
  assertEquals(await statusAfter(-1), 200);
});

Deno.test("a rewrite before the copy's end is found by the daily comparison", async () => {
  await using issuer = await setUp(400);
  await issuer.verify();
  const forged = await issuer.line(2, key, { roles: ["dePloy"] });
  assertEquals(forged.length, issuer.lines[1]?.length);
  const grown = [...issuer.lines.with(1, forged), await issuer.line(401, key)];
  issuer.publish(grown);
  assertEquals((await issuer.verify()).feed.verifiedEvents, 401);
  issuer.wait(DAY_MS);
  await expectSigError(() => issuer.verify(), ...REWRITTEN);
});

Deno.test("a damaged or exchanged copy is read again, and never the issuer's fault", async () => {
  await using issuer = await setUp();
  await issuer.verify();
  const clean = issuer.files().map((file) =>
    [file, Deno.readFileSync(file)] as const
  );
  const strange = await setUp(40);
  await strange.verify();
  const others = strange.files().map((file) => Deno.readFileSync(file));
  await strange[Symbol.asyncDispose]();
  let cases = 0;
  for (const [file, bytes] of clean) {
    const changes: Uint8Array[] = [
      new Uint8Array(),
      bytes.slice(0, bytes.length / 2),
      bytes.slice(0, -1),
      ...others,
    ];
    for (let nth = 0; nth < 25; nth++) {
      const at = Math.floor(bytes.length * nth / 25);
      changes.push(bytes.with(at, bytes[at]! ^ 1));
    }
    for (const changed of changes) {
      for (const [file, bytes] of clean) Deno.writeFileSync(file, bytes);
      Deno.writeFileSync(file, changed);
      const { state, warnings } = await issuer.verify();
      assertEquals([state.last_sequence, warnings], [40, []]);
      cases++;
    }
  }
  assert(cases > 50);
  const { incident, inconsistency } = await showPin(issuer.pins, issuer.did);
  assertEquals([incident, inconsistency], [null, null]);
});

Deno.test("a copy never hides a rollback, nor other bytes that were cut off", async () => {
  await using issuer = await setUp();
  const { did, lines, pins, publish, server: { documents } } = issuer;
  await issuer.verify();
  for (const events of [0, 1, 39]) {
    publish(lines.slice(0, events));
    await expectSigError(() => issuer.verify(), ...ROLLED_BACK);
    publish(lines);
    await issuer.verify();
  }
  const accept = {
    allowPrivate: true,
    now: new Date(START_MS),
    reason: "test",
  };
  await acknowledgePin(pins, did, accept);
  // Another tail, then no answer.
  const otherTail = ({ headers }: Request) => {
    const from = Number(/\d+/.exec(headers.get("range") ?? ""));
    return new Response("x", {
      status: 206,
      headers: { "content-range": `bytes ${from}-${from}/${from + 1}` },
    });
  };
  for (const other of [status(416), otherTail]) {
    const feed = documents.get(PATHS.feed)!;
    const answers = [other];
    documents.set(
      PATHS.feed,
      (request) => (answers.pop() ?? status(503))(request),
    );
    await expectSigError(() => issuer.verify(), "fetch_status", "503");
    // The state that was read before does not answer.
    await expectSigError(
      () => issuer.fresh({ maxAgeMs: 60_000 }).check(did, QUESTION),
      "fetch_status",
      "503",
    );
    documents.set(PATHS.feed, feed);
    await issuer.verify();
  }
});

Deno.test("a copy that is longer than what is remembered is not used", async () => {
  await using issuer = await setUp();
  const { did, line, lines, publish, pins, server } = issuer;
  publish([...lines, await line(41, key)]);
  await issuer.verify({ pins: createMemoryStore() });
  const copies = issuer.files().map((file) =>
    [file, Deno.readFileSync(file)] as const
  );
  for (const [file] of copies) Deno.removeSync(file);
  publish(lines);
  await issuer.verify();
  for (const [file, bytes] of copies) Deno.writeFileSync(file, bytes);
  // The server confirms any copy.
  server.documents.set(
    PATHS.feed,
    ({ headers }) =>
      headers.has("if-none-match")
        ? new Response(null, { status: 304 })
        : new Response(feedOf(lines)),
  );
  assertEquals((await issuer.verify()).state.last_sequence, 40);
  assertEquals((await showPin(pins, did)).sequence, 40);
});

Deno.test("what was read answers in a new process within the maximum age, without a request", async () => {
  await using issuer = await setUp();
  const { did, server, pins } = issuer;
  const check = (maxAgeMs: number) =>
    issuer.fresh({ maxAgeMs }).check(did, QUESTION);
  await issuer.verify();
  issuer.wait(5_000);
  const { length } = server.exchanges;
  const { decision, freshness, continuity } = await check(60_000);
  assertEquals([decision, freshness?.age_seconds], ["allow", 5]);
  assertEquals(continuity, "consistent");
  assertEquals(server.exchanges.length, length);
  server.documents.delete(PATHS.metadata);
  assertEquals((await check(60_000)).decision, "allow");
  await expectSigError(() => check(4_000), "feed_stale", "older than 4 s");
  await expectSigError(() => check(0), "fetch_status", "404");
  // Not if another history is remembered.
  await removePin(pins, did);
  await expectSigError(() => check(60_000), "fetch_status", "404");
});

Deno.test("a removed pin removes the copy", async () => {
  await using issuer = await setUp();
  const { did, pins, mirrorFolder, lines, publish } = issuer;
  await issuer.verify();
  assert(issuer.files().length > 0);
  await removePin(pins, did, { mirrorFolder });
  assertEquals(issuer.files(), []);
  publish(lines.slice(0, 3));
  assertEquals((await issuer.verify()).state.last_sequence, 3);
});
