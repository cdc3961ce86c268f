import { assertEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { last, watchIssuer } from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();
const DAY_MS = 24 * 60 * 60 * 1000;

Deno.test("known events of a whole feed are compared, not verified again", async () => {
  const breaths: number[] = [];
  await using watched = await watchIssuer(300, key1, {
    yieldToEventLoop: () => {
      breaths.push(1);
      return Promise.resolve();
    },
  });
  const { consumer, server, lines } = watched;
  server.ranges = false;
  await consumer.verify(server.did);
  // One breath for every 128 lines that are verified.
  assertEquals(breaths.length, 2);
  watched.publish([...lines, await watched.line(301, key1)]);
  const { feed } = await consumer.verify(server.did);
  assertEquals(feed.verifiedEvents, 301);
  assertEquals(breaths.length, 2);
});

Deno.test("after a day the whole feed is compared, where tails work too", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  const statuses = async () => {
    await consumer.verify(server.did);
    return last(server.of(PATHS.feed)).status;
  };
  assertEquals(await statuses(), 200);
  watched.wait(DAY_MS - 1);
  assertEquals(await statuses(), 304);
  watched.wait(1);
  assertEquals(await statuses(), 200);
  assertEquals(last(server.of(PATHS.feed)).range, null);
  assertEquals(await statuses(), 304);
  // A tail does not put the comparison off.
  watched.wait(DAY_MS / 2);
  watched.publish([...lines, await watched.line(5, key1)]);
  assertEquals(await statuses(), 206);
  watched.wait(DAY_MS / 2);
  assertEquals(await statuses(), 200);
  // Nor does a clock that was set back.
  watched.wait(-1);
  assertEquals(await statuses(), 200);
});

Deno.test("a rewritten middle is found at once where nothing was added", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  // As long as the true event, so that the known end is where it was.
  const forged = await watched.line(2, key1, { roles: ["dePloy"] });
  assertEquals(forged.length, lines[1]!.length);
  watched.publish([lines[0]!, forged, lines[2]!, lines[3]!]);
  await expectSigError(
    () => consumer.verify(server.did),
    "feed_rewritten",
    "is not the one that is remembered",
  );
});

Deno.test("another entity tag for the same feed costs a comparison, and no verification", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server } = watched;
  const before = await consumer.verify(server.did);
  server.era = "next";
  const after = await consumer.verify(server.did);
  assertEquals(server.of(PATHS.feed).map(({ status }) => status), [
    200,
    206,
    200,
  ]);
  assertEquals(after.feed.sha256, before.feed.sha256);
  await consumer.verify(server.did);
  assertEquals(last(server.of(PATHS.feed)).status, 304);
});

Deno.test("a rewritten middle of a feed that grew is found by the daily comparison at the latest", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const forged = await watched.line(2, key1, { roles: ["dePloy"] });
  const added = await watched.line(5, key1);
  watched.publish([lines[0]!, forged, lines[2]!, lines[3]!, added]);
  await consumer.verify(server.did);
  assertEquals(last(server.of(PATHS.feed)).status, 206);
  watched.wait(DAY_MS);
  await expectSigError(
    () => consumer.verify(server.did),
    "feed_rewritten",
    "is not the one that is remembered",
  );
});

Deno.test("a tail that does not follow the known end is judged by the whole feed", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const other = await watched.line(4, key1, { roles: ["admin"] });
  watched.publish([...lines.slice(0, 3), other, await watched.line(5, key1)]);
  await expectSigError(
    () => consumer.verify(server.did),
    "feed_rewritten",
    "is not the one that is remembered",
  );
  assertEquals(server.of(PATHS.feed).map(({ status }) => status), [
    200,
    206,
    200,
  ]);
});

Deno.test("416 is judged by the whole feed", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publish(lines.slice(0, 1));
  await expectSigError(
    () => consumer.verify(server.did),
    "feed_rolled_back",
    "Cannot trust feed: the feed ends at sequence 1, but 4 events are",
  );
  assertEquals(server.of(PATHS.feed).map(({ status }) => status), [
    200,
    416,
    200,
  ]);
});
