// How old the state may be that an answer rests upon, and who shares a fetch.
import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import {
  ALICE,
  feedOf,
  lineOf,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { KEYS, QUESTION, setUp } from "../testdata/asked_issuer.ts";

const { key1, stranger } = KEYS;

Deno.test("questions at once share one fetch", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => consumer.check(server.did, QUESTION)),
  );
  assert(answers.every(({ decision }) => decision === "allow"));
  assertEquals(server.requests.length, 4);
  const states = await Promise.all([
    consumer.state(server.did),
    consumer.state(server.did),
  ]);
  assertStrictEquals(states[0], states[1]);
  assertEquals(setup.fetches(), 1);
});

Deno.test("a state is used until it is older than max age", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const first = await consumer.check(server.did, QUESTION);
  assertEquals(first.freshness, {
    observed_at: "2026-06-01T00:00:00Z",
    age_seconds: 0,
    max_age_seconds: 60,
    status: "fresh",
  });
  setup.wait(60_000);
  const second = await consumer.check(server.did, QUESTION);
  assertEquals(second.freshness?.age_seconds, 60);
  assertEquals(second.evaluated_at, "2026-06-01T00:01:00Z");
  assertEquals(setup.fetches(), 1);
  setup.wait(1);
  const third = await consumer.check(server.did, QUESTION);
  assertEquals(third.freshness?.observed_at, "2026-06-01T00:01:00.001Z");
  assertEquals(setup.fetches(), 2);
});

Deno.test("an answer is as young as it was asked to be, however slow the fetch", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  server.documents.set(PATHS.feed, () => {
    setup.wait(3_000);
    return new Response(feed);
  });
  for (const maxAgeMs of [1_000, 0]) {
    setup.wait(2_000);
    const { freshness, evaluated_at } = await consumer.check(server.did, {
      ...QUESTION,
      maxAgeMs,
    });
    assertEquals([freshness?.age_seconds, freshness?.status], [0, "fresh"]);
    const waited = Date.parse(evaluated_at) -
      Date.parse(freshness!.observed_at);
    assertEquals(waited, 3_000);
    setup.wait(2_000);
    const observed = await consumer.observe(server.did, { maxAgeMs });
    assertEquals(observed.freshness.age_seconds, 0);
  }
});

Deno.test("the maximum age is a minute by default", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await consumer.state(server.did);
  setup.wait(60_000);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 1);
  setup.wait(1);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 2);
});

Deno.test("max age 0 asks the issuer each time", async () => {
  await using setup = await setUp(0);
  const { consumer, server } = setup;
  for (let i = 1; i <= 3; i++) {
    await consumer.check(server.did, QUESTION);
    assertEquals(setup.fetches(), i);
  }
});

Deno.test("a clock that is set back makes the issuer be asked again", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  await consumer.state(server.did);
  setup.wait(-1);
  await consumer.state(server.did);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a revoke is seen when the state is too old, not before", async () => {
  await using setup = await setUp(1000);
  const { consumer, server, lines } = setup;
  const decide = async () =>
    (await consumer.check(server.did, {
      subject: ALICE,
      require: ["relationship_id=rel-2"],
    })).decision;
  assertEquals(await decide(), "allow");
  const { roles: _, ...event } = upsert(3, {
    issuer: server.did,
    event_type: "relationship.revoke",
    relationship_id: "rel-2",
    revokes_relationship_id: "rel-2",
    reason_code: "other",
    effective_at: "2026-01-01T00:00:00Z",
  });
  const revoked = [...lines, await lineOf(event, key1)];
  server.documents.set(PATHS.feed, feedOf(revoked));
  assertEquals(await decide(), "allow");
  setup.wait(1001);
  assertEquals(await decide(), "deny");
});

Deno.test("verify asks the issuer whatever is known, and its result is used", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const first = await consumer.verify(server.did);
  const second = await consumer.verify(server.did);
  assert(first !== second);
  assertEquals(setup.fetches(), 2);
  assertStrictEquals(await consumer.state(server.did), second.state);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a failure is not remembered: the next question tries again", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const feed = server.documents.get(PATHS.feed)!;
  server.documents.set(PATHS.feed, status(503));
  const ask = () => consumer.check(server.did, QUESTION);
  const [one, two] = await Promise.allSettled([ask(), ask()]);
  assertEquals([one?.status, two?.status], ["rejected", "rejected"]);
  assertEquals(setup.fetches(), 1);
  // Nothing was known before, so it is the fetch's own code.
  await expectSigError(
    ask,
    "fetch_status",
    "the server answered with status 503",
  );
  assertEquals(setup.fetches(), 2);
  server.documents.set(PATHS.feed, feed);
  assertEquals((await ask()).decision, "allow");
});

Deno.test("what is too old and can't be refreshed is stale, not an answer", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const ask = () => consumer.check(server.did, QUESTION);
  await ask();
  server.documents.set(PATHS.metadata, status(503));
  assertEquals((await ask()).decision, "allow");
  setup.wait(60_001);
  for (const question of [ask, () => consumer.state(server.did)]) {
    const error = await expectSigError(
      question,
      "feed_stale",
      "Cannot answer: what is known is older than 60 s, and refreshing it " +
        "failed (fetch_status)",
    );
    assertEquals(error.context, {
      issuer: server.did,
      observed_at: "2026-06-01T00:00:00Z",
      reason: "fetch_status",
    });
  }
  await expectSigError(
    () => consumer.verify(server.did),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("with max age 0 there is nothing to be stale", async () => {
  await using setup = await setUp(0);
  const { consumer, server } = setup;
  await consumer.check(server.did, QUESTION);
  server.documents.set(PATHS.metadata, status(503));
  await expectSigError(
    () => consumer.check(server.did, QUESTION),
    "fetch_status",
    "the server answered with status 503",
  );
});

Deno.test("a feed that became faulty is an error, and never an answer", async () => {
  await using setup = await setUp(1000);
  const { consumer, server } = setup;
  const ask = () => consumer.check(server.did, QUESTION);
  await ask();
  const forged = await lineOf(upsert(1, { issuer: server.did }), stranger);
  server.documents.set(PATHS.feed, feedOf([forged]));
  setup.wait(1001);
  await expectSigError(
    ask,
    "signature_invalid",
    "Cannot verify feed: it is not a signature of key",
  );
});

Deno.test("100 questions at once share one fetch, whatever they demand", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const hundred = <T>(ask: () => Promise<T>) =>
    Promise.all(Array.from({ length: 100 }, ask));
  await hundred(() => consumer.check(server.did, QUESTION));
  assertEquals(setup.fetches(), 1);
  await hundred(() => consumer.check(server.did, { ...QUESTION, maxAgeMs: 0 }));
  assertEquals(setup.fetches(), 2);
  await Promise.all([
    hundred(() => consumer.verify(server.did)),
    hundred(() => consumer.report(server.did)),
  ]);
  assertEquals(setup.fetches(), 3);
});

Deno.test("who demands an answer of now does not get one that began before", async () => {
  await using setup = await setUp();
  const { consumer, server } = setup;
  const { asked, go } = setup.holdFeed();
  const early = consumer.check(server.did, QUESTION);
  await asked;
  const shared = consumer.check(server.did, QUESTION);
  const demanding = [
    consumer.check(server.did, { ...QUESTION, maxAgeMs: 0 }),
    consumer.check(server.did, { ...QUESTION, minSequence: 1 }),
    consumer.verify(server.did),
    consumer.report(server.did),
  ];
  go();
  await Promise.all([early, shared]);
  assertEquals(setup.fetches(), 1);
  await Promise.all(demanding);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a refresh that began before an event is not shared by who asks about it", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const third = await lineOf(upsert(3, { issuer: server.did }), key1);
  const { asked, go } = setup.holdFeed();
  const early = consumer.check(server.did, QUESTION);
  await asked;
  const late = consumer.check(server.did, { ...QUESTION, minSequence: 3 });
  server.documents.set(PATHS.feed, feedOf([...lines, third]));
  go();
  assertEquals((await early).last_sequence, 2);
  assertEquals((await late).last_sequence, 3);
});

Deno.test("a refresh that began too long ago is not shared", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const { asked, go } = setup.holdFeed();
  const slow = consumer.check(server.did, QUESTION);
  await asked;
  setup.wait(10_000);
  const shared = consumer.check(server.did, { ...QUESTION, maxAgeMs: 10_000 });
  const strict = consumer.check(server.did, { ...QUESTION, maxAgeMs: 9_000 });
  go();
  // The age is that when it was asked.
  assertEquals((await slow).freshness?.age_seconds, 0);
  assertEquals((await shared).freshness?.age_seconds, 10);
  assertEquals((await strict).freshness?.age_seconds, 0);
  assertEquals(setup.fetches(), 2);
});

Deno.test("a question may tighten max age, not loosen it", async () => {
  await using setup = await setUp(60_000);
  const { consumer, server } = setup;
  const ask = async (maxAgeMs: number) =>
    (await consumer.check(server.did, { ...QUESTION, maxAgeMs }))
      .freshness?.max_age_seconds;
  assertEquals(await ask(10_000), 10);
  setup.wait(10_001);
  assertEquals(await ask(3_600_000), 60);
  assertEquals(setup.fetches(), 1);
  assertEquals(await ask(10_000), 10);
  assertEquals(setup.fetches(), 2);
  setup.wait(60_001);
  assertEquals(await ask(3_600_000), 60);
  assertEquals(setup.fetches(), 3);
});

Deno.test("a question about an event that is not known yet refreshes once", async () => {
  await using setup = await setUp();
  const { consumer, server, lines } = setup;
  const ask = (minSequence: number) =>
    consumer.check(server.did, { ...QUESTION, minSequence });
  await ask(2);
  assertEquals(setup.fetches(), 1);
  const error = await expectSigError(
    () => ask(3),
    "consistency_unavailable",
    "Cannot answer: the feed ends at sequence 2, before 3",
  );
  assertEquals(error.context.sequence, 3);
  assertEquals(error.context.last_sequence, 2);
  assertEquals(setup.fetches(), 2);
  const third = await lineOf(upsert(3, { issuer: server.did }), key1);
  server.documents.set(PATHS.feed, feedOf([...lines, third]));
  assertEquals((await ask(3)).last_sequence, 3);
  assertEquals(setup.fetches(), 3);
  await ask(3);
  assertEquals(setup.fetches(), 3);
  const state = await consumer.state(server.did, { minSequence: 3 });
  assertEquals(state.last_sequence, 3);
  // That it can't be refreshed does not make the state too old.
  server.documents.set(PATHS.metadata, status(503));
  await expectSigError(() => ask(4), "fetch_status", "with status 503");
});
