// Which part of a known feed a refresh compares, and when it compares all of
// it: of the feed of a process, and of the feed on disk.
import { assertEquals } from "@std/assert";
import { createMemoryStore } from "../store/memory_store.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { feedOf, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { countYields } from "../../tests/kit/wait.ts";
import {
  consumerOfManyProcesses,
  last,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1] = await importTestKeys();
const DAY_MS = 24 * 60 * 60 * 1000;
const REWRITTEN = [
  "feed_rewritten",
  "is not the one that is remembered",
] as const;

/** Registers a test for one process, and for new ones that share a mirror. */
function knownFeedTest(
  name: string,
  work: (watch: (events: number) => Promise<WatchedIssuer>) => Promise<void>,
): void {
  Deno.test(name, () => work((events) => watchIssuer(events, key1)));
  Deno.test(`on disk: ${name}`, async () => {
    await using folder = await tempFolder();
    let nth = 0;
    await work((events) => {
      const mirrorFolder = `${folder.path}/${nth++}`;
      const shared = { pins: createMemoryStore(), mirrorFolder };
      return watchIssuer(
        ...[events, key1, shared] as const,
        (options) => consumerOfManyProcesses({ ...options, ...shared }),
      );
    });
  });
}

Deno.test("known events of a refetched feed are compared, not verified again", async () => {
  const yields = countYields();
  await using issuer = await watchIssuer(300, key1, yields);
  issuer.server.ranges = false;
  await issuer.verify();
  issuer.publish([...issuer.lines, await issuer.line(301, key1)]);
  assertEquals((await issuer.verify()).feed.verifiedEvents, 301);
  // One yield for each 128 verified lines.
  assertEquals(yields.count, 2);
});

knownFeedTest(
  "the whole feed is compared once a day, even if tails can be fetched",
  async (watch) => {
    await using issuer = await watch(4);
    const statusAfter = async (waitMs: number) => {
      issuer.wait(waitMs);
      await issuer.verify();
      return last(issuer.server.of(PATHS.feed));
    };
    assertEquals((await statusAfter(0)).status, 200);
    assertEquals((await statusAfter(DAY_MS - 1)).status, 304);
    const { status, range } = await statusAfter(1);
    assertEquals([status, range], [200, null]);
    assertEquals((await statusAfter(0)).status, 304);
    // A tail does not delay the comparison.
    issuer.publish([...issuer.lines, await issuer.line(5, key1)]);
    assertEquals((await statusAfter(DAY_MS / 2)).status, 206);
    assertEquals((await statusAfter(DAY_MS / 2)).status, 200);
    // A clock that was set back does not delay it either.
    assertEquals((await statusAfter(-1)).status, 200);
  },
);

knownFeedTest(
  "a new entity tag of the same feed causes a comparison from the first byte",
  async (watch) => {
    await using issuer = await watch(4);
    const before = await issuer.verify();
    issuer.server.era = "next";
    const after = await issuer.verify();
    assertEquals(after.feed.sha256, before.feed.sha256);
    await issuer.verify();
    assertEquals(issuer.statuses(), [200, 206, 200, 304]);
  },
);

knownFeedTest(
  "a rewrite in the middle is detected immediately, or by the daily comparison if the feed grew",
  async (watch) => {
    for (const isGrown of [false, true]) {
      // More than is compared of a feed on disk.
      await using issuer = await watch(40);
      await issuer.verify();
      // The forged event has the same length, so the known end does not move.
      const forged = await issuer.line(2, key1, { roles: ["dePloy"] });
      const lines = issuer.lines.with(1, forged);
      assertEquals(forged.length, issuer.lines[1]!.length);
      issuer.publish(isGrown ? [...lines, await issuer.line(41, key1)] : lines);
      if (isGrown) {
        await issuer.verify();
        assertEquals(issuer.statuses(), [200, 206]);
        issuer.wait(DAY_MS);
      }
      await issuer.refused(...REWRITTEN);
    }
  },
);

knownFeedTest(
  "if a tail does not continue the known feed, the whole feed is read",
  async (watch) => {
    await using issuer = await watch(4);
    await issuer.verify();
    const other = await issuer.line(4, key1, { roles: ["admin"] });
    issuer.publish([
      ...issuer.lines.with(3, other),
      await issuer.line(5, key1),
    ]);
    await issuer.refused(...REWRITTEN);
    assertEquals(issuer.statuses(), [200, 206, 200]);
    await using shorter = await watch(40);
    await shorter.verify();
    shorter.publish(shorter.lines.slice(0, 1));
    await shorter.refused(
      "feed_rolled_back",
      "Cannot trust feed: the feed ends at sequence 1, but 40 events are",
    );
    assertEquals(shorter.statuses(), [200, 416, 200]);
  },
);

knownFeedTest(
  "a feed at a new URL is requested without conditions, and compared",
  async (watch) => {
    await using issuer = await watch(3);
    const { lines, server: { documents, of } } = issuer;
    await issuer.verify();
    const metadata = documents.get(PATHS.metadata) as string;
    const moved = "/.well-known/sig/moved.jsonl";
    documents.set(PATHS.metadata, metadata.replace(PATHS.feed, moved));
    documents.set(moved, feedOf([...lines, await issuer.line(4, key1)]));
    assertEquals((await issuer.verify()).feed.verifiedEvents, 4);
    const { status, range, ifNoneMatch } = last(of(moved));
    assertEquals([status, range, ifNoneMatch], [200, null, null]);
    documents.set(moved, feedOf(lines));
    await issuer.refused("feed_rolled_back", "Cannot trust feed");
  },
);
