import { createConsumer } from "@sig/consumer";
import { DEFAULT_LIMITS } from "@sig/core";
import { signEvent, type SigningKey } from "@sig/jose";
import { assert, assertEquals } from "@std/assert";
import { DID, importTestKeys, upsert } from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import { createFeeds, type FeedsOptions } from "./feeds.ts";
import { inlineFeedOf } from "../testdata/example_feed.ts";
import { get, now, post, QUESTION } from "../testdata/asking.ts";
import { turns } from "../../tests/kit/wait.ts";

/** A feed of about this many bytes, as in a request. */
async function makeFeed(
  bytes: number,
  key: SigningKey,
  reason = "x".repeat(2_000),
) {
  const lines: string[] = [];
  for (let length = 0, n = 1; length < bytes; n++) {
    const line = JSON.stringify(await signEvent(upsert(n, { reason }), key));
    lines.push(line);
    length += line.length + 1;
  }
  return { events: lines.length, feed: inlineFeedOf(lines) };
}

/** Feeds of a service without issuers. */
function feedsOf(options: Partial<FeedsOptions>) {
  return createFeeds(createConsumer({ issuers: [] }), {
    now,
    limits: DEFAULT_LIMITS,
    yieldToEventLoop: () => Promise.resolve(),
    ...options,
  });
}

function waitFor<T>(_other: string, work: () => Promise<T>): Promise<T> {
  return work();
}

Deno.test("other requests are answered while 10 large feeds are verified", async () => {
  const [key] = await importTestKeys();
  const { feed, events } = await makeFeed(1024 * 1024, key!);
  const app = createApp({ now });
  const body = JSON.stringify({ feed });
  let done = false;
  const heavy = Promise.all(
    Array.from({ length: 10 }, () => post(app, "/v1/verify", body)),
  ).finally(() => done = true);
  const small = await makeFeed(1, key!);
  let rounds = 0;
  while (!done) {
    const { status } = await get(app, "/healthz");
    assertEquals(status, 200);
    const light = await post(app, "/v1/check", {
      feed: small.feed,
      ...QUESTION,
    });
    assertEquals(light.body.decision, "allow");
    await turns();
    rounds++;
  }
  for (const { status, body } of await heavy) {
    assertEquals(status, 200);
    assertEquals(body.verified_events, events);
  }
  assert(rounds > 10, `${rounds} rounds`);
});

Deno.test("an inline feed is verified in slices", async () => {
  const [key] = await importTestKeys();
  const { feed, events } = await makeFeed(1024 * 1024, key!);
  let slices = 0;
  const feeds = feedsOf({
    yieldToEventLoop() {
      slices++;
      return Promise.resolve();
    },
  });
  assert(events > 256);
  assert((await feeds.report({ feed }, waitFor)).valid);
  const once = slices;
  assert(once >= 1 + Math.floor(events / 128), `${once} slices`);
  await feeds.observe({ feed }, { waitFor });
  assertEquals(slices, 2 * once);
});

Deno.test("large feeds that wait longer than the limit are 503", async () => {
  const [key] = await importTestKeys();
  const { feed } = await makeFeed(1024 * 1024, key!);
  const feeds = feedsOf({ maxWaitMs: 1, yieldToEventLoop: turns });
  const all = await Promise.allSettled(
    Array.from({ length: 4 }, () => feeds.observe({ feed }, { waitFor })),
  );
  const refused = all.filter(({ status }) => status === "rejected");
  assert(refused.length >= 1 && refused.length < 4, `${refused.length}`);
  for (const each of refused) {
    const { code, message, context } = (each as PromiseRejectedResult).reason;
    assertEquals([code, message, context.retry_after_seconds], [
      "overloaded",
      "Cannot answer: other large feeds were verified for 0.001 s before this one",
      1,
    ]);
  }
});

Deno.test("a feed in 100 questions of a batch is verified once", async () => {
  const [key] = await importTestKeys();
  const { feed } = await makeFeed(1024, key!);
  let readings = 0;
  const app = createApp({
    now() {
      readings++;
      return now();
    },
  });
  readings = 0;
  const { body } = await post(app, "/v1/check", {
    checks: Array.from({ length: 100 }, () => ({ feed, ...QUESTION })),
  });
  assertEquals(body.results.length, 100);
  for (const each of body.results) {
    assertEquals([each.decision, each.issuer], ["allow", DID]);
  }
  // The clock is read once per request, once per verification, and once for all
  // questions about one state.
  assertEquals(readings, 3);
});

Deno.test("a batch of slow answers yields to other requests", async () => {
  const [key] = await importTestKeys();
  // More relationships than one step evaluates.
  const { events, feed } = await makeFeed(240 * 1024, key!, "short");
  assert(events > 256, `${events} events`);
  let isOver = false;
  let count = 0;
  const app = createApp({ now });
  const batch = post(app, "/v1/check", {
    checks: Array(12).fill({ feed, ...QUESTION }),
  }).finally(() => isOver = true);
  while (!isOver) {
    await turns();
    count++;
  }
  assertEquals((await batch).body.results.length, 12);
  assert(count >= 12, `${count} turns`);
});
