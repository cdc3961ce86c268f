import { assert, assertEquals } from "@std/assert";
import type { ConsumerOptions } from "../consumer.ts";
import { createConsumer } from "../create_consumer.ts";
import { locateIssuer } from "../read/source.ts";
import { cosignCheckpoint } from "./cosign.ts";
import { acknowledgePin, showPin } from "./manage_pins.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import {
  PROOFS,
  type ProofsContent,
  publishProofs,
} from "../../tests/kit/proofs.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  START_MS,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1, key2, stranger] = await importTestKeys();
assert(key1 && key2 && stranger);

const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

type Watched = WatchedIssuer & { readonly lines: readonly string[] };

/** An issuer with proofs, and consumers that share a memory of it. */
async function setUp(events = 6) {
  const { pins, ...file } = await openPinFile();
  const watched: Watched = await watchIssuer(events, key1!);
  const { server } = watched;
  const prove = (
    lines: readonly string[],
    content: Partial<ProofsContent> = {},
  ) => {
    const { documents, origin } = server;
    const keys = [key1!];
    return publishProofs(documents, { origin, keys, lines, ...content });
  };
  await prove(watched.lines);
  const consumer = (options: Partial<ConsumerOptions> = {}) =>
    createConsumer({
      issuers: [server.did],
      allowPrivate: true,
      now: () => new Date(START_MS),
      pins,
      ...options,
    });
  return {
    ...{ ...watched, prove, pins },
    /** As another process asks. */
    ask: (options?: Partial<ConsumerOptions>) =>
      consumer({ proofs: "always", maxAgeMs: 0, ...options })
        .check(server.did, QUESTION),
    /** Reads the whole feed. */
    read: (options?: Partial<ConsumerOptions>) =>
      consumer({ proofs: "never", maxAgeMs: 0, ...options }).verify(server.did),
    pin: () => showPin(pins, server.did),
    async lines7() {
      return [...watched.lines, await watched.line(7, key1!)];
    },
    async [Symbol.asyncDispose]() {
      await watched[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

Deno.test("an answer by proof is remembered, and confirmed by the next one", async () => {
  await using issuer = await setUp();
  const first = await issuer.ask();
  assertEquals([first.continuity, first.proof?.size], ["first_seen", 6]);
  const pin = await issuer.pin();
  assertEquals(pin.proof?.seen, 6);
  assertEquals(pin.sequence, null);
  assertEquals(pin.keys, {});
  const lines = await issuer.lines7();
  issuer.publish(lines);
  const tail = await issuer.ask();
  assertEquals([tail.continuity, tail.proof?.tail], ["consistent", 1]);
  assertEquals((await issuer.pin()).proof?.seen, 7);
  await issuer.prove(lines);
  const longer = await issuer.ask();
  assertEquals([longer.proof?.size, longer.proof?.tail], [7, 0]);
  const whole = await issuer.read();
  assertEquals(whole.state.last_sequence, 7);
  const { sequence, proof } = await issuer.pin();
  assertEquals([sequence, proof?.size, proof?.seen], [7, 7, 7]);
  assertEquals(issuer.server.of(PATHS.feed).at(-1)?.status, 200);
});

Deno.test("a feed that was read first is confirmed by proofs, and read on after them", async () => {
  await using issuer = await setUp();
  await issuer.read();
  assertEquals((await issuer.pin()).proof?.size, 6);
  const lines = await issuer.lines7();
  issuer.publish(lines);
  await issuer.prove(lines);
  const answer = await issuer.ask();
  assertEquals([answer.proof?.size, answer.continuity], [7, "consistent"]);
  // Only the new line is read: the tree was kept with the stored lines.
  await issuer.read();
  assertEquals(issuer.server.of(PATHS.feed).at(-1)?.status, 206);
});

Deno.test("a memory from before the proofs is read from the start once", async () => {
  await using issuer = await setUp();
  const metadata = issuer.server.documents.get(PATHS.metadata) as string;
  const { proofs_uri: _, ...without } = JSON.parse(metadata);
  issuer.server.documents.set(PATHS.metadata, JSON.stringify(without));
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  issuer.server.documents.set(PATHS.metadata, metadata);
  assertEquals((await issuer.ask()).proof, null);
  assertEquals((await issuer.pin()).proof?.size, 6);
  assertEquals((await issuer.ask()).proof?.size, 6);
});

/** What an issuer may show, and why nothing is answered then. */
const CONTRADICTIONS: {
  readonly name: string;
  readonly show: (issuer: SetUp) => Promise<void>;
  readonly code: Parameters<typeof expectSigError>[1];
  readonly message: string;
}[] = [
  {
    name: "a smaller checkpoint",
    async show({ lines, prove, publish }) {
      publish(lines.slice(0, 5));
      await prove(lines.slice(0, 5));
    },
    code: "feed_rolled_back",
    message: "ends at sequence 5",
  },
  {
    name: "another line",
    async show({ lines, prove, publish, line }) {
      const other = lines.with(2, await line(3, key1, { roles: ["other"] }));
      publish(other);
      await prove(other);
    },
    code: "feed_rewritten",
    message: "is not the one that is remembered",
  },
  {
    name: "another line in a feed that has grown",
    async show({ lines, prove, publish, line }) {
      const changed = await line(3, key1, { roles: ["other"] });
      const other = [...lines.with(2, changed), await line(7, key1)];
      publish(other);
      await prove(other);
    },
    code: "feed_rewritten",
    message: "is not the one that is remembered",
  },
  {
    name: "another state of the same events",
    async show({ lines, prove }) {
      await prove(lines, { claim: { state: new Uint8Array(32).fill(7) } });
    },
    code: "state_contradicted",
    message: "another state was signed",
  },
  {
    name: "another key under a known kid",
    async show({ lines, prove, publishKeys }) {
      publishKeys([stranger!]);
      await prove(lines, { keys: [stranger!] });
    },
    code: "key_replaced",
    message: "another key is published",
  },
  {
    name: "a key that the thief of a web server publishes, with an event by it",
    async show({ lines, prove, publish, publishKeys, line }) {
      publishKeys([key1!, key2!]);
      const more = [...lines, await line(7, key2!)];
      publish(more);
      await prove(more, { keys: [key2!], published: [key1!, key2!] });
    },
    code: "key_not_introduced",
    message: "no remembered key has signed a checkpoint that names it",
  },
  {
    name: "the same without any proofs",
    async show({ lines, publish, publishKeys, line, server }) {
      publishKeys([key1!, key2!]);
      publish([...lines, await line(7, key2!)]);
      const metadata = server.documents.get(PATHS.metadata) as string;
      const { proofs_uri: _, ...without } = JSON.parse(metadata);
      server.documents.set(PATHS.metadata, JSON.stringify(without));
    },
    code: "key_not_introduced",
    message: "no remembered key has signed a checkpoint that names it",
  },
  {
    name: "the same with an old checkpoint, signed by the old key",
    async show({ lines, publish, publishKeys, line }) {
      publishKeys([key1!, key2!]);
      publish([...lines, await line(7, key2!)]);
    },
    code: "key_not_introduced",
    message: "no remembered key has signed a checkpoint that names it",
  },
];

for (const { name, show, code, message } of CONTRADICTIONS) {
  for (const first of ["ask", "read"] as const) {
    Deno.test(`${name} is refused by a reader that remembers (${first})`, async () => {
      await using issuer = await setUp();
      const before = new Map(issuer.server.documents);
      await issuer[first]();
      await show(issuer);
      await expectSigError(() => issuer.ask(), code, message);
      const { incident } = await issuer.pin();
      assertEquals(incident?.code, code);
      assert(incident?.seen !== undefined);
      // And by one that reads the feed; and as long as it is shown.
      await expectSigError(() => issuer.read(), code, "");
      await expectSigError(() => issuer.ask(), code, "");
      for (const [path, served] of before) {
        issuer.server.documents.set(path, served);
      }
      const again = await issuer.ask();
      assertEquals(again.decision, "allow");
      assertEquals(again.continuity, "consistent");
      assertEquals(
        again.warnings.map(({ code }) => code),
        ["history_was_inconsistent"],
      );
    });
  }
}

Deno.test("a key that the old one introduces is accepted", async () => {
  await using issuer = await setUp();
  await issuer.ask();
  issuer.publishKeys([key1, key2]);
  const lines = [...issuer.lines, await issuer.line(7, key2)];
  issuer.publish(lines);
  await issuer.prove(lines, { keys: [key1, key2] });
  const answer = await issuer.ask();
  assertEquals(answer.decision, "allow");
  assertEquals(Object.keys((await issuer.pin()).proof!.keys).length, 2);
  await issuer.prove(lines, { keys: [key2], published: [key1, key2] });
  assertEquals((await issuer.ask()).proof?.kid, key2.publicJwk.kid);
});

Deno.test("a running consumer holds the feed that it follows against the checkpoint", async () => {
  await using issuer = await setUp();
  const consumer = createConsumer({
    ...{ issuers: [issuer.server.did], allowPrivate: true, maxAgeMs: 0 },
    now: () => new Date(START_MS),
  });
  const { did } = issuer.server;
  await consumer.verify(did);
  await issuer.prove(issuer.lines, {
    claim: { state: new Uint8Array(32).fill(7) },
  });
  await expectSigError(
    () => consumer.check(did, QUESTION),
    "state_contradicted",
    "another state was signed",
  );
  await issuer.prove(issuer.lines);
  assertEquals((await consumer.check(did, QUESTION)).decision, "allow");
});

Deno.test("a process that answered by proof remembers it when it reads the feed", async () => {
  await using issuer = await setUp();
  const consumer = createConsumer({
    ...{ issuers: [issuer.server.did], allowPrivate: true, maxAgeMs: 0 },
    now: () => new Date(START_MS),
  });
  const { did } = issuer.server;
  const first = await consumer.check(did, QUESTION);
  assertEquals([first.proof?.size, first.continuity], [6, "first_seen"]);
  const changed = await issuer.line(3, key1, { roles: ["other"] });
  issuer.publish(issuer.lines.with(2, changed));
  issuer.server.documents.delete(`${PROOFS}checkpoint`);
  await expectSigError(
    () => consumer.verify(did),
    "feed_rewritten",
    "is not the one that is remembered",
  );
});

Deno.test("without proofs a key that signs for the first time is a warning", async () => {
  await using issuer = await setUp();
  const { documents } = issuer.server;
  const metadata = documents.get(PATHS.metadata) as string;
  const { proofs_uri: _, ...without } = JSON.parse(metadata);
  documents.set(PATHS.metadata, JSON.stringify(without));
  const codes = async () =>
    (await issuer.ask()).warnings.map(({ code }) => code);
  assertEquals(await codes(), []);
  issuer.publishKeys([key1, key2]);
  issuer.publish([...issuer.lines, await issuer.line(7, key2)]);
  assertEquals(await codes(), ["key_added"]);
  assertEquals(await codes(), []);
  const { key_added } = await issuer.pin();
  const kid = key2.publicJwk.kid!;
  assertEquals(key_added, [{ kid, at: "2026-06-01T00:00:00Z" }]);
});

Deno.test("what an incident by proof saw, and nothing else, is accepted", async () => {
  await using issuer = await setUp();
  await issuer.ask();
  issuer.publishKeys([key1, key2]);
  const lines = [...issuer.lines, await issuer.line(7, key2)];
  issuer.publish(lines);
  const published = [key1, key2];
  await issuer.prove(lines, { keys: [key2], published });
  await expectSigError(() => issuer.ask(), "key_not_introduced", "is new");
  const accept = () =>
    acknowledgePin(issuer.pins, issuer.server.did, {
      ...{ allowPrivate: true, now: new Date(START_MS), reason: "by phone" },
    });
  const more = [...lines, await issuer.line(8, key2)];
  issuer.publish(more);
  await issuer.prove(more, { keys: [key2], published });
  await expectSigError(
    accept,
    "confirmation_required",
    "what is served now is not what the recorded incident saw",
  );
  issuer.publish(lines);
  await issuer.prove(lines, { keys: [key2], published });
  const accepted = await accept();
  assertEquals([accepted.sequence, accepted.proof?.size], [7, 7]);
  const answer = await issuer.ask();
  assertEquals([answer.decision, answer.proof?.size], ["allow", 7]);
});

Deno.test("by proof, too, a sequence must be reached, and no question waits too long", async () => {
  await using issuer = await setUp();
  const { server } = issuer;
  const fresh = () =>
    createConsumer({
      ...{ issuers: [server.did], allowPrivate: true, maxWaitMs: 300 },
      now: () => new Date(START_MS),
    });
  const ask = (minSequence: number) =>
    fresh().check(server.did, { ...QUESTION, minSequence });
  assertEquals((await ask(6)).proof?.size, 6);
  await expectSigError(
    () => ask(7),
    "consistency_unavailable",
    "the feed ends at sequence 6, before 7",
  );
  const asked = { subjects: [ALICE], refresh: false };
  await expectSigError(
    () => fresh().state(server.did, asked),
    "feed_stale",
    "nothing is known of the issuer",
  );
  const go = Promise.withResolvers<void>();
  for (const path of server.documents.keys()) {
    if (!path.includes("/state/")) continue;
    server.documents.set(path, async () => {
      await go.promise;
      return new Response(null, { status: 404 });
    });
  }
  await expectSigError(
    () => ask(6),
    "fetch_timeout",
    "there was no answer within 300 ms",
  );
  go.resolve();
});

Deno.test("what others have seen by proof costs a reader of the feed what is new", async () => {
  await using issuer = await setUp();
  const pins = createMemoryStore();
  const options = {
    ...{ issuers: [issuer.server.did], allowPrivate: true, pins, maxAgeMs: 0 },
    now: () => new Date(START_MS),
  };
  const reader = createConsumer({ ...options, proofs: "never" });
  await reader.verify(issuer.server.did);
  const lines = await issuer.lines7();
  issuer.publish(lines);
  await issuer.prove(lines);
  const asker = createConsumer({ ...options, proofs: "always" });
  assertEquals((await asker.check(issuer.server.did, QUESTION)).proof?.size, 7);
  const { state } = await reader.verify(issuer.server.did);
  assertEquals(state.last_sequence, 7);
  assertEquals(issuer.server.of(PATHS.feed).at(-1)?.status, 206);
});

Deno.test("an issuer on no list is answered by proof, and nothing of it is remembered", async () => {
  await using issuer = await setUp();
  const consumer = createConsumer({
    ...{ issuers: [], anyIssuer: true, allowPrivate: true, pins: issuer.pins },
    now: () => new Date(START_MS),
  });
  const answer = await consumer.check(issuer.server.did, QUESTION);
  assertEquals([answer.proof?.size, answer.continuity], [6, "unpinned"]);
  await expectSigError(() => issuer.pin(), "not_found", "is not remembered");
});

Deno.test("an event that was seen after a checkpoint can't be withheld later", async () => {
  await using issuer = await setUp();
  issuer.publish(await issuer.lines7());
  assertEquals((await issuer.ask()).proof?.tail, 1);
  issuer.publish(issuer.lines);
  const rolledBack = [
    "feed_rolled_back",
    "the feed ends at sequence 6, but 7 events are remembered",
  ] as const;
  await expectSigError(() => issuer.ask(), ...rolledBack);
  await expectSigError(() => issuer.read(), ...rolledBack);
});

Deno.test("an answer that was late does not make an earlier memory of a later one", async () => {
  await using issuer = await setUp();
  const { did, documents } = issuer.server;
  const consumer = createConsumer({
    ...{ issuers: [did], allowPrivate: true, maxAgeMs: 0, proofs: "always" },
    now: () => new Date(START_MS),
  });
  const before = new Map(documents);
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const feed = before.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  documents.set(PATHS.feed, async () => {
    asked.resolve();
    await go.promise;
    const headers = { "content-range": `bytes */${feed.length}` };
    return new Response(null, { status: 416, headers });
  });
  const late = consumer.check(did, QUESTION);
  await asked.promise;
  const lines = await issuer.lines7();
  issuer.publish(lines);
  await issuer.prove(lines);
  assertEquals((await consumer.check(did, QUESTION)).last_sequence, 7);
  go.resolve();
  assertEquals((await late).last_sequence, 6);
  for (const [path, served] of before) documents.set(path, served);
  await expectSigError(
    () => consumer.check(did, QUESTION),
    "feed_rolled_back",
    "the feed ends at sequence 6, but 7 events are remembered",
  );
});

Deno.test("a feed that was behind its checkpoint confirms it as soon as it is not", async () => {
  await using issuer = await setUp();
  const lines = await issuer.lines7();
  await issuer.prove(lines);
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  issuer.publish(lines);
  await issuer.read();
  assertEquals((await issuer.pin()).proof?.size, 7);
});

Deno.test("a checkpoint over a changed subject is neither remembered nor cosigned", async () => {
  await using issuer = await setUp(3);
  const { server } = issuer;
  const bob = { subject: "did:web:bob.example", relationship_id: "rel-1" };
  const changed = await issuer.line(4, key1!, bob);
  const lines = [...issuer.lines, changed];
  issuer.publish(lines);
  await issuer.prove(lines);
  // By proof, what the feed gives to Bob does not exist.
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  const cosign = () =>
    cosignCheckpoint(
      createMemoryStore(),
      locateIssuer(server.did, { allowPrivate: true }),
      {
        ...{ key: key2!, name: "cosigner.example/1", allowPrivate: true },
        now: new Date(START_MS),
      },
    );
  await expectSigError(
    cosign,
    "proof_invalid",
    "Cannot use proof: the feed is not what the checkpoint says",
  );
  await issuer.prove(issuer.lines);
  assertEquals((await cosign()).size, 3);
});
