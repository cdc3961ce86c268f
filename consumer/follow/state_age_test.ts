// The maximum age of a state, and which questions share a fetch.
import { assertEquals, assertStrictEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { status } from "../../tests/kit/issuer_server.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();

/** Returns the number of requests of the feed. */
const fetches = (issuer: WatchedIssuer) => issuer.statuses().length;

Deno.test("100 concurrent questions share one fetch", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { consumer, did, check, server } = issuer;
  const hundred = <T>(ask: () => Promise<T>) =>
    Promise.all(Array.from({ length: 100 }, ask));
  await hundred(check);
  assertEquals(server.exchanges.length, 4);
  await hundred(() => check({ maxAgeMs: 0 }));
  assertEquals(fetches(issuer), 2);
  await Promise.all([
    hundred(issuer.verify),
    hundred(() => consumer.report(did)),
  ]);
  assertEquals(fetches(issuer), 3);
  const [one, other] = await hundred(() => consumer.state(did));
  assertStrictEquals(one, other);
  assertEquals(fetches(issuer), 3);
});

Deno.test("a state answers until it is older than the smaller maximum age", async () => {
  const options = { refreshAhead: false };
  await using issuer = await watchIssuer(2, key1, options);
  const steps: readonly (readonly [
    waitMs: number,
    maxAgeMs: number | undefined,
    age: number,
    maxAge: number,
    fetches: number,
  ])[] = [
    [0, undefined, 0, 60, 1],
    [60_000, undefined, 60, 60, 1],
    [1, undefined, 0, 60, 2],
    [10_000, 10_000, 10, 10, 2],
    // A question can't raise the consumer's own maximum.
    [1, 3_600_000, 10, 60, 2],
    [0, 10_000, 0, 10, 3],
    [0, 0, 0, 0, 4],
    [0, 0, 0, 0, 5],
    // After the clock was set back, the state is refreshed.
    [-1, undefined, 0, 60, 6],
  ];
  for (const [waitMs, maxAgeMs, age, maxAge, expected] of steps) {
    issuer.wait(waitMs);
    const { freshness, evaluated_at } = await issuer.check({ maxAgeMs });
    assertEquals(
      [freshness?.age_seconds, freshness?.max_age_seconds, fetches(issuer)],
      [age, maxAge, expected],
    );
    assertEquals(freshness?.status, "fresh");
    const ageMs = Date.parse(evaluated_at) -
      Date.parse(freshness!.observed_at);
    assertEquals(Math.floor(ageMs / 1000), age);
  }
});

Deno.test("the age of a state is measured when the question arrives", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { consumer, did, server } = issuer;
  const feed = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  server.documents.set(PATHS.feed, () => {
    issuer.wait(3_000);
    return new Response(feed);
  });
  for (const maxAgeMs of [1_000, 0]) {
    issuer.wait(2_000);
    const { freshness, evaluated_at } = await issuer.check({ maxAgeMs });
    assertEquals([freshness?.age_seconds, freshness?.status], [0, "fresh"]);
    const waited = Date.parse(evaluated_at) -
      Date.parse(freshness!.observed_at);
    assertEquals(waited, 3_000);
    issuer.wait(2_000);
    const observed = await consumer.observe(did, { maxAgeMs });
    assertEquals(observed.freshness.age_seconds, 0);
  }
});

Deno.test("a state that is too old and can't be refreshed is feed_stale", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { consumer, did, server } = issuer;
  await issuer.check();
  server.documents.set(PATHS.metadata, status(503));
  assertEquals((await issuer.check()).decision, "allow");
  issuer.wait(60_001);
  for (const ask of [() => issuer.check(), () => consumer.state(did)]) {
    const error = await expectSigError(
      ask,
      "feed_stale",
      "Cannot answer: what is known is older than 60 s, and refreshing it " +
        "failed (fetch_status)",
    );
    const { retry_after_seconds: _, ...context } = error.context;
    assertEquals(context, {
      issuer: did,
      observed_at: "2026-06-01T00:00:00Z",
      reason: "fetch_status",
    });
  }
  // With a maximum age of 0, the error is that of the fetch.
  for (const ask of [issuer.verify, () => issuer.check({ maxAgeMs: 0 })]) {
    await expectSigError(ask, "fetch_status", "answered with status 503");
  }
});

Deno.test("a question that needs current data does not share an earlier fetch", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { consumer, did, check } = issuer;
  const { asked, go } = issuer.holdFeed();
  const early = check();
  await asked;
  const shared = check();
  const demanding = [
    ...[check({ maxAgeMs: 0 }), check({ minSequence: 3 })],
    ...[issuer.verify(), consumer.report(did)],
  ];
  // The response that is held lacks this event.
  issuer.publish([...issuer.lines, await issuer.line(3, key1)]);
  go();
  await Promise.all([early, shared]);
  assertEquals(fetches(issuer), 1);
  await Promise.all(demanding);
  assertEquals(fetches(issuer), 2);
});

Deno.test("a fetch that began too long ago is not shared", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { asked, go } = issuer.holdFeed();
  const slow = issuer.check();
  await asked;
  issuer.wait(10_000);
  const shared = issuer.check({ maxAgeMs: 10_000 });
  const strict = issuer.check({ maxAgeMs: 9_000 });
  go();
  assertEquals((await slow).freshness?.age_seconds, 0);
  assertEquals((await shared).freshness?.age_seconds, 10);
  assertEquals((await strict).freshness?.age_seconds, 0);
  assertEquals(fetches(issuer), 2);
});

Deno.test("a minSequence beyond the known state causes one refresh", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { check, consumer, did, server } = issuer;
  await check({ minSequence: 2 });
  assertEquals(fetches(issuer), 1);
  const error = await expectSigError(
    () => check({ minSequence: 3 }),
    "consistency_unavailable",
    "Cannot answer: the feed ends at sequence 2, before 3",
  );
  assertEquals([error.context.sequence, error.context.last_sequence], [3, 2]);
  assertEquals(fetches(issuer), 2);
  issuer.publish([...issuer.lines, await issuer.line(3, key1)]);
  for (let i = 0; i < 2; i++) {
    assertEquals((await check({ minSequence: 3 })).last_sequence, 3);
    assertEquals(fetches(issuer), 3);
  }
  const state = await consumer.state(did, { minSequence: 3 });
  assertEquals(state.last_sequence, 3);
  // A failed refresh does not make a young state feed_stale.
  server.documents.set(PATHS.metadata, status(503));
  await expectSigError(
    () => check({ minSequence: 4 }),
    "fetch_status",
    "with status 503",
  );
});
