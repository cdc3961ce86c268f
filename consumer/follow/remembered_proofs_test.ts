import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import type { ConsumerQuestion } from "../consumer.ts";
import { encodeBase64Url } from "@sig/jose/internal";
import { commitmentTo, signStatement } from "@sig/jose/recovery";
import { startProvenIssuer } from "../testdata/proven_issuer.ts";
import { locateIssuer } from "../read/source.ts";
import { cosignCheckpoint } from "../evidence/cosign.ts";
import { createMemoryStore } from "../store/memory_store.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { within } from "../../tests/kit/wait.ts";
import { feedOf, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { QUESTION, START_MS } from "../../tests/kit/watched_issuer.ts";

// promise: A reader that remembers a proof refuses a rewritten feed and keys
//   that no known key introduced.

const [key1, key2, stranger] = await importTestKeys();

/** A checkpoint with a different state of the same events. */
const OTHER_STATE = { claim: { state: new Uint8Array(32).fill(7) } };
const REWRITTEN = [
  "feed_rewritten",
  "is not the one that is remembered",
] as const;
const NOT_INTRODUCED = [
  "key_not_introduced",
  "no remembered key has signed a checkpoint that names it",
] as const;

/** Starts an issuer with events, and lines that change them. */
async function setUp(events = 6) {
  const issuer = await startProvenIssuer(events);
  const { lines, line } = issuer;
  return {
    ...issuer,
    /** Returns the lines with a different third line. */
    otherLines: async () =>
      lines.with(2, await line(3, key1, { roles: ["other"] })),
  };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

Deno.test("an answer by proof is remembered, and confirmed by the next answer", async () => {
  await using issuer = await setUp();
  const first = await issuer.ask();
  assertEquals([first.continuity, first.proof?.size], ["first_seen", 6]);
  const { proof, sequence, keys } = await issuer.pin();
  assertEquals([proof?.seen, sequence, keys], [6, null, {}]);
  const lines = await issuer.longer();
  issuer.publish(lines);
  const tail = await issuer.ask();
  assertEquals([tail.continuity, tail.proof?.tail], ["consistent", 1]);
  assertEquals((await issuer.pin()).proof?.seen, 7);
  await issuer.prove(lines);
  const longer = await issuer.ask();
  assertEquals([longer.proof?.size, longer.proof?.tail], [7, 0]);
  assertEquals((await issuer.read()).state.last_sequence, 7);
  const pin = await issuer.pin();
  assertEquals([pin.sequence, pin.proof?.size, pin.proof?.seen], [7, 7, 7]);
  assertEquals(issuer.statuses().at(-1), 200);
});

Deno.test("a proof extends a feed that was read before", async () => {
  await using issuer = await setUp();
  await issuer.read();
  assertEquals((await issuer.pin()).proof?.size, 6);
  await issuer.publishProven(await issuer.longer());
  const answer = await issuer.ask();
  assertEquals([answer.proof?.size, answer.continuity], [7, "consistent"]);
  assertEquals((await issuer.read()).state.last_sequence, 7);
});

Deno.test("a feed that was pinned before it had proofs is read once from the start", async () => {
  await using issuer = await setUp();
  const metadata = issuer.withoutProofs();
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  issuer.server.documents.set(PATHS.metadata, metadata);
  assertEquals((await issuer.ask()).proof, null);
  assertEquals((await issuer.pin()).proof?.size, 6);
  assertEquals((await issuer.ask()).proof?.size, 6);
});

/** A contradiction, and its error. */
const CONTRADICTIONS: readonly (readonly [
  name: string,
  show: (issuer: SetUp) => Promise<unknown>,
  ...error: readonly [ErrorCode, string],
])[] = [
  [
    "a smaller checkpoint",
    ({ lines, publishProven }) => publishProven(lines.slice(0, 5)),
    ...["feed_rolled_back", "ends at sequence 5"] as const,
  ],
  [
    "another line",
    async ({ otherLines, publishProven }) => publishProven(await otherLines()),
    ...REWRITTEN,
  ],
  [
    "another line in a feed that has grown",
    async ({ otherLines, publishProven, line }) =>
      publishProven([...await otherLines(), await line(7, key1)]),
    ...REWRITTEN,
  ],
  [
    "another state of the same events",
    ({ lines, prove }) => prove(lines, OTHER_STATE),
    ...["state_contradicted", "a different state was signed"] as const,
  ],
  [
    "another key under a known kid",
    ({ lines, prove, publishKeys }) => {
      publishKeys([stranger]);
      return prove(lines, { keys: [stranger] });
    },
    ...["key_replaced", "another key is published"] as const,
  ],
  [
    "an event by a key that an intruder on the web server publishes",
    async ({ longer, publishProven, publishKeys }) => {
      publishKeys([key1, key2]);
      const content = { keys: [key2], published: [key1, key2] };
      await publishProven(await longer(key2), content);
    },
    ...NOT_INTRODUCED,
  ],
  [
    "such an event without any proofs",
    async ({ longer, publish, publishKeys, withoutProofs }) => {
      publishKeys([key1, key2]);
      publish(await longer(key2));
      withoutProofs();
    },
    ...NOT_INTRODUCED,
  ],
  [
    "such an event with an old checkpoint by the old key",
    async ({ longer, publish, publishKeys }) => {
      publishKeys([key1, key2]);
      publish(await longer(key2));
    },
    ...NOT_INTRODUCED,
  ],
];

for (const [name, show, code, message] of CONTRADICTIONS) {
  for (const first of ["ask", "read"] as const) {
    Deno.test(`rejects ${name} if the issuer is remembered (${first})`, async () => {
      await using issuer = await setUp();
      const before = new Map(issuer.server.documents);
      await issuer[first]();
      await show(issuer);
      await expectSigError(() => issuer.ask(), code, message);
      const { incident } = await issuer.pin();
      assertEquals(incident?.code, code);
      assert(incident?.seen !== undefined);
      // A reader of the feed fails too, as long as the contradiction is served.
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

Deno.test("accepts a new key that the old key introduces", async () => {
  await using issuer = await setUp();
  await issuer.ask();
  const published = [key1, key2];
  issuer.publishKeys(published);
  const lines = await issuer.longer(key2);
  await issuer.publishProven(lines, { keys: published });
  assertEquals((await issuer.ask()).decision, "allow");
  assertEquals(Object.keys((await issuer.pin()).proof!.keys).length, 2);
  await issuer.prove(lines, { keys: [key2], published });
  assertEquals((await issuer.ask()).proof?.kid, key2.publicJwk.kid);
});

Deno.test("a running consumer compares its feed with the checkpoint", async () => {
  await using issuer = await setUp();
  const { did, lines, prove } = issuer;
  const consumer = issuer.fresh();
  const ask = () => consumer.check(did, QUESTION);
  await consumer.verify(did);
  await prove(lines, OTHER_STATE);
  await expectSigError(
    ask,
    "state_contradicted",
    "a different state was signed",
  );
  await prove(lines);
  assertEquals((await ask()).decision, "allow");
});

Deno.test("a process that answered by proof compares the feed with the proof", async () => {
  await using issuer = await setUp();
  const consumer = issuer.fresh();
  assertEquals((await consumer.check(issuer.did, QUESTION)).proof?.size, 6);
  issuer.publish(await issuer.otherLines());
  issuer.withoutProofs();
  await expectSigError(() => consumer.verify(issuer.did), ...REWRITTEN);
});

Deno.test("without proofs a key that signs for the first time causes a warning", async () => {
  await using issuer = await setUp();
  issuer.withoutProofs();
  const codes = async () =>
    (await issuer.ask()).warnings.map(({ code }) => code);
  assertEquals(await codes(), []);
  issuer.publishKeys([key1, key2]);
  issuer.publish(await issuer.longer(key2));
  assertEquals(await codes(), ["key_added"]);
  assertEquals(await codes(), []);
  const { key_added } = await issuer.pin();
  const kid = key2.publicJwk.kid!;
  assertEquals(key_added, [{ kid, at: "2026-06-01T00:00:00Z" }]);
});

Deno.test("minSequence and refresh apply to questions by proof", async () => {
  await using issuer = await setUp();
  const { did } = issuer;
  const ask = (minSequence: number) =>
    issuer.fresh().check(did, { ...QUESTION, minSequence });
  assertEquals((await ask(6)).proof?.size, 6);
  await expectSigError(
    () => ask(7),
    "consistency_unavailable",
    "the feed ends at sequence 6, before 7",
  );
  const unasked = { subjects: [QUESTION.subject], refresh: false };
  await expectSigError(
    () => issuer.fresh().state(did, unasked),
    "feed_stale",
    "nothing is known of the issuer",
  );
});

Deno.test("metadata, proof and feed have one deadline, and a signal ends each", async () => {
  await using issuer = await setUp();
  const { did, server: { documents, hold } } = issuer;
  const [path] = [...documents.keys()].filter((each) =>
    each.includes("/state/")
  );
  const { setTimeout } = globalThis;
  const maxWaitMs = 54_321;
  let deadlines = 0;
  let pass = () => {};
  // The first deadline passes when the test says so, another one never.
  globalThis.setTimeout = ((work: () => void, ms: number) => {
    if (ms === maxWaitMs && deadlines++ === 0) pass = work;
    // real time: all other timers are those of the platform
    return ms === maxWaitMs ? 0 : setTimeout(work, ms);
  }) as typeof setTimeout;
  try {
    const consumer = issuer.fresh({ pins: undefined, maxWaitMs });
    const held = hold(path!);
    const late = consumer.check(did, QUESTION).catch((error) => error);
    await held.asked;
    pass();
    const { code, message } = await within("the deadline", late)
      .finally(held.go);
    assertEquals(code, "fetch_timeout");
    assertStringIncludes(message, "there was no answer within 54321 ms");
    assertEquals(deadlines, 1);
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  const stop = new AbortController();
  const { asked, go } = hold(path!);
  const question = { ...QUESTION, signal: stop.signal };
  const ended = issuer.fresh().check(did, question).catch((error) => error);
  await asked;
  stop.abort("enough");
  assertEquals(await within("the signal", ended).finally(go), "enough");
});

Deno.test("after another process has answered by proof, a reader fetches only the tail", async () => {
  await using issuer = await setUp();
  const { did } = issuer;
  const pins = createMemoryStore();
  const reader = issuer.fresh({ pins, proofs: "never" });
  await reader.verify(did);
  await issuer.publishProven(await issuer.longer());
  const { proof } = await issuer.fresh({ pins, proofs: "always" })
    .check(did, QUESTION);
  assertEquals(proof?.size, 7);
  assertEquals((await reader.verify(did)).state.last_sequence, 7);
  assertEquals(issuer.statuses().at(-1), 206);
});

Deno.test("a question about an unlisted issuer is answered by proof, and not remembered", async () => {
  await using issuer = await setUp();
  const options = { issuers: [], anyIssuer: true, pins: issuer.pins };
  const answer = await issuer.fresh(options).check(issuer.did, QUESTION);
  assertEquals([answer.proof?.size, answer.continuity], [6, "unpinned"]);
  await expectSigError(() => issuer.pin(), "not_found", "is not remembered");
});

for (const seen of ["a faulty tail", "a key that nobody introduced"]) {
  Deno.test(`${seen} is not forgiven if the issuer falls silent after it`, async () => {
    await using issuer = await setUp();
    const { did, server } = issuer;
    const { documents } = server;
    const consumer = issuer.fresh({
      ...{ maxAgeMs: 1_000, graceMs: 600_000, proofs: "always" },
    });
    const ask = (changes: Partial<ConsumerQuestion> = {}) => {
      issuer.wait(60_000);
      return consumer.check(did, { ...QUESTION, ...changes });
    };
    await ask();
    const before = new Map(documents);
    const path = seen === "a faulty tail" ? PATHS.feed : PATHS.jwks;
    if (path === PATHS.jwks) issuer.publishKeys([key1, key2]);
    const wrong = path === PATHS.feed
      ? feedOf(await issuer.longer(stranger))
      : documents.get(path);
    documents.set(path, (request) => {
      documents.set(path, status(503));
      return server.respond(request, wrong);
    });
    await expectSigError(ask, "fetch_status", "503");
    // Nor later. An urgent question waits for the end of its attempt.
    const urgent = { maxAgeMs: 0, graceMs: 600_000 };
    await expectSigError(() => ask(urgent), "fetch_status", "503");
    for (const [path, served] of before) documents.set(path, served);
    // Is not delayed by the failures before.
    assertEquals((await ask({ maxAgeMs: 0 })).decision, "allow");
    documents.set(path, status(503));
    assertEquals((await ask()).freshness?.status, "stale");
  });
}

for (const proofs of ["always", "never"] as const) {
  Deno.test(`after a new statement was seen, no state before it answers (${proofs})`, async () => {
    await using issuer = await setUp();
    const { did, lines, prove, server: { documents } } = issuer;
    if (proofs === "never") issuer.withoutProofs();
    const metadata = JSON.parse(documents.get(PATHS.metadata) as string);
    const recoveryKey = stranger.publicJwk.x;
    const commitment = commitmentTo(recoveryKey);
    const publish = (statements: readonly string[]) => {
      const recovery = { commitment, statements };
      documents.set(PATHS.metadata, JSON.stringify({ ...metadata, recovery }));
    };
    const claim = { recovery: commitment };
    if (proofs === "always") await prove(lines, { claim });
    publish([]);
    const consumer = issuer.fresh({
      ...{ maxAgeMs: 1_000, graceMs: 600_000, proofs },
    });
    const ask = () => {
      issuer.wait(60_000);
      return consumer.check(did, QUESTION);
    };
    const first = await ask();
    assertEquals([first.decision, first.proof !== null], [
      ...["allow", proofs === "always"],
    ]);
    const root = encodeBase64Url(new Uint8Array(32));
    const claims = {
      ...{ iss: did, iat: START_MS / 1000, n: 1, key: recoveryKey, size: 0 },
      ...{
        next: root,
        root,
        keys: { [key2.publicJwk.kid!]: key2.publicJwk.x },
      },
      ended: [{
        ...{ kid: key1.publicJwk.kid!, x: key1.publicJwk.x, last_sequence: 0 },
        reason: "compromised" as const,
      }],
    };
    publish([await signStatement(claims, stranger)]);
    const published = [key1, key2];
    issuer.publishKeys(published);
    if (proofs === "always") {
      await prove(lines, { keys: [key2], published, claim });
    }
    for (const path of [PATHS.feed, PATHS.metadata]) {
      documents.set(path, status(503));
      await expectSigError(ask, "fetch_status", "503");
    }
  });
}

Deno.test("a feed shorter than its checkpoint confirms it once it has grown", async () => {
  await using issuer = await setUp();
  const lines = await issuer.longer();
  await issuer.prove(lines);
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  issuer.publish(lines);
  await issuer.read();
  assertEquals((await issuer.pin()).proof?.size, 7);
});

Deno.test("a checkpoint is neither remembered nor cosigned if an event changed a subject", async () => {
  await using issuer = await setUp(3);
  const bob = { subject: "did:web:bob.example", relationship_id: "rel-1" };
  const changed = await issuer.line(4, key1, bob);
  const lines = [...issuer.lines, changed];
  await issuer.publishProven(lines);
  // A proof would deny Bob the relationship that the feed gives him.
  await issuer.read();
  assertEquals((await issuer.pin()).proof, null);
  const cosign = () =>
    cosignCheckpoint(
      createMemoryStore(),
      locateIssuer(issuer.did, { allowPrivate: true }),
      {
        ...{ key: key2, name: "cosigner.example/1", allowPrivate: true },
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
