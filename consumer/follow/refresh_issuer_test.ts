import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  ALICE,
  feedOf,
  importTestKeys,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import {
  last,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1, , stranger] = await importTestKeys();
/** A tail begins with the last line that is known. */
const overlapOf = (lines: readonly string[]) => feedOf(lines.slice(-1)).length;

/** The decision about one relationship, from the issuer as it is now. */
async function decide(
  { consumer, server }: WatchedIssuer,
  relationship: string,
): Promise<string> {
  const { decision } = await consumer.check(server.did, {
    subject: ALICE,
    require: [`relationship_id=${relationship}`],
    maxAgeMs: 0,
  });
  return decision;
}

async function sha256(lines: readonly string[]): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", feedOf(lines));
  return new Uint8Array(hash).toHex();
}

Deno.test("an unchanged issuer is asked four times and sends nothing", async () => {
  await using watched = await watchIssuer(5, key1);
  const { consumer, server, lines } = watched;
  const first = await consumer.observe(server.did, { maxAgeMs: 0 });
  assertEquals(first.continuity, "first_seen");
  assertEquals(server.exchanges.map(({ status }) => status), [
    200,
    200,
    200,
    200,
  ]);
  assert(server.exchanges.every(({ ifNoneMatch }) => ifNoneMatch === null));
  watched.wait(1000);
  const second = await consumer.observe(server.did, { maxAgeMs: 0 });
  assertEquals(second.continuity, "consistent");
  assertEquals(second.freshness.observed_at, "2026-06-01T00:00:01Z");
  assertEquals(
    server.exchanges.slice(4).map(({ status, bytes }) => [status, bytes]),
    [[304, 0], [304, 0], [304, 0], [304, 0]],
  );
  assertEquals(second.verified.feed.sha256, await sha256(lines));
  assertEquals(second.verified.state.last_sequence, 5);
  assertEquals(second.verified.feed.keys, first.verified.feed.keys);
  assertEquals(await decide(watched, "rel-5"), "allow");
});

Deno.test("only the tail of a feed that grew is transferred", async () => {
  await using watched = await watchIssuer(8, key1);
  const { consumer, server, lines } = watched;
  const before = await consumer.verify(server.did);
  const tail = [await watched.line(9, key1), await watched.line(10, key1)];
  watched.publish([...lines, ...tail]);
  const { verified, continuity } = await consumer.observe(server.did, {
    maxAgeMs: 0,
  });
  assertEquals(continuity, "consistent");
  const { status, bytes, range } = last(server.of(PATHS.feed));
  assertEquals(status, 206);
  assertEquals(bytes, overlapOf(lines) + feedOf(tail).length);
  assertEquals(range, `bytes=${feedOf(lines).length - overlapOf(lines)}-`);
  assertEquals(verified.feed.verifiedEvents, 10);
  assertEquals(verified.feed.bytes, feedOf([...lines, ...tail]).length);
  assertEquals(verified.feed.sha256, await sha256([...lines, ...tail]));
  assertEquals(verified.feed.keys[0]?.last_sequence, 10);
  assertEquals(verified.state.by_relationship_id.size, 10);
  // What was handed out before is as it was.
  assertEquals(before.state.by_relationship_id.size, 8);
  assertEquals(before.feed.keys[0]?.last_sequence, 8);
});

Deno.test("the new events' warnings are judged by the new clock", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const soon = await watched.line(2, key1, {
    issued_at: "2026-06-01T02:00:00Z",
  });
  watched.wait(60 * 60 * 1000);
  watched.publish([...lines, soon]);
  const codes = async () =>
    (await consumer.verify(server.did)).warnings.map(({ code }) => code);
  assertEquals(await codes(), ["issued_at_future"]);
  watched.wait(60 * 60 * 1000);
  assertEquals(await codes(), []);
});

Deno.test("an empty feed grows", async () => {
  await using watched = await watchIssuer(0, key1);
  const { server } = watched;
  assertEquals(await decide(watched, "rel-1"), "deny");
  watched.publish([await watched.line(1, key1)]);
  assertEquals(await decide(watched, "rel-1"), "allow");
  watched.publish([
    await watched.line(1, key1),
    await watched.line(2, key1),
  ]);
  assertEquals(await decide(watched, "rel-2"), "allow");
  // There was one line: all of it is asked for.
  assertEquals(last(server.of(PATHS.feed)).range, "bytes=0-");
});

for (
  const [etags, ranges] of [[false, false], [false, true], [true, false]]
) {
  const name = `${etags ? "with" : "without"} entity tags and ${
    ranges ? "with" : "without"
  } ranges`;
  Deno.test(`a server ${name} works as well`, async () => {
    await using watched = await watchIssuer(6, key1);
    const { consumer, server, lines } = watched;
    server.etags = etags!;
    server.ranges = ranges!;
    await consumer.verify(server.did);
    await consumer.verify(server.did);
    const tail = [await watched.line(7, key1)];
    watched.publish([...lines, ...tail]);
    const verified = await consumer.verify(server.did);
    assertEquals(verified.feed.sha256, await sha256([...lines, ...tail]));
    assertEquals(verified.feed.verifiedEvents, 7);
    assertEquals(
      server.of(PATHS.feed).map(({ status }) => status),
      [200, etags ? 304 : ranges ? 206 : 200, ranges ? 206 : 200],
    );
    if (ranges) {
      const known = feedOf(lines).length;
      const { range } = last(server.of(PATHS.feed));
      assertEquals(range, `bytes=${known - overlapOf(lines)}-`);
    }
    watched.publish(lines.slice(0, 5));
    await expectSigError(
      () => consumer.verify(server.did),
      "feed_rolled_back",
      "Cannot trust feed: the feed ends at sequence 5, but 7 events are",
    );
  });
}

Deno.test("a server that lies about ranges is asked for the whole feed", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const grown = feedOf([...lines, await watched.line(5, key1)]);
  const lies = [
    `bytes 0-${grown.length - 1}/${grown.length}`,
    `bytes 17-20/${grown.length}`,
    "bytes */0",
    "nonsense",
  ];
  for (const lie of lies) {
    server.documents.set(
      PATHS.feed,
      (request) =>
        request.headers.has("range")
          ? new Response(grown, {
            status: 206,
            headers: { "content-range": lie },
          })
          : new Response(grown),
    );
    const { feed } = await consumer.verify(server.did);
    assertEquals(feed.verifiedEvents, 5, lie);
  }
});

Deno.test("a tail that is cut is told, and costs no verification from the start", async () => {
  let breaths = 0;
  await using watched = await watchIssuer(130, key1, {
    yieldToEventLoop: () => {
      breaths++;
      return Promise.resolve();
    },
  });
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  assertEquals(breaths, 1);
  const tail = feedOf([
    ...lines,
    await watched.line(131, key1),
    await watched.line(132, key1),
  ]);
  server.documents.set(PATHS.feed, tail.slice(0, -1));
  const error = await expectSigError(
    () => consumer.verify(server.did),
    "incomplete_line",
    "Cannot verify feed: the last line must end in LF",
  );
  assertEquals([error.context.line, error.context.sequence], [132, 132]);
  server.documents.set(PATHS.feed, tail);
  assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 132);
  assertEquals(breaths, 1);
  // After a fault nothing is asked for conditionally.
  const { status, ifNoneMatch, range } = last(server.of(PATHS.feed));
  assertEquals([status, ifNoneMatch, range], [200, null, null]);
  assert(server.exchanges.slice(-4).every(({ status }) => status === 200));
});

Deno.test("a fault in the middle of a tail leaves nothing half done", async () => {
  await using watched = await watchIssuer(4, key1);
  const { consumer, server, lines } = watched;
  const before = await consumer.verify(server.did);
  const five = await watched.line(5, key1);
  const forged = await watched.line(6, stranger);
  watched.publish([...lines, five, forged]);
  await expectSigError(
    () => consumer.verify(server.did),
    "signature_invalid",
    "Cannot verify feed",
  );
  assertEquals(before.state.by_relationship_id.size, 4);
  assertEquals(before.state.last_sequence, 4);
  // Event 5 does not count as seen: another may come.
  const other = await watched.line(5, key1, { roles: ["admin"] });
  watched.publish([...lines, other]);
  const { state } = await consumer.verify(server.did);
  assertEquals(state.by_relationship_id.get("rel-5")?.roles, ["admin"]);
  assertEquals(state.by_relationship_id.size, 5);
});

Deno.test("public_only that is switched on is held against every event", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  const strict = server.documents.get(PATHS.metadata) as string;
  const lax = strict.replace('"public_only":true', '"public_only":false');
  assertNotEquals(lax, strict);
  server.documents.set(PATHS.metadata, lax);
  const secret = await watched.line(2, key1, { visibility: "private" });
  watched.publish([...lines, secret]);
  assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 2);
  server.documents.set(PATHS.metadata, strict);
  await expectSigError(
    () => consumer.verify(server.did),
    "private_event_in_public_feed",
    "Cannot verify feed",
  );
  server.documents.set(PATHS.metadata, lax);
  assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 2);
});

Deno.test("public_only that is switched off admits the private events that follow", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const strict = server.documents.get(PATHS.metadata) as string;
  server.documents.set(
    PATHS.metadata,
    strict.replace('"public_only":true', '"public_only":false'),
  );
  const secret = await watched.line(2, key1, { visibility: "private" });
  watched.publish([...lines, secret]);
  assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 2);
});

Deno.test("a feed that moved is compared as a whole", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const metadata = server.documents.get(PATHS.metadata) as string;
  const moved = "/.well-known/sig/moved.jsonl";
  server.documents.set(PATHS.metadata, metadata.replace(PATHS.feed, moved));
  server.documents.set(moved, feedOf([...lines, await watched.line(4, key1)]));
  assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 4);
  assertEquals(
    server.of(moved).map(({ status, range, ifNoneMatch }) => [
      status,
      range,
      ifNoneMatch,
    ]),
    [[200, null, null]],
  );
  server.documents.set(moved, feedOf(lines));
  await expectSigError(
    () => consumer.verify(server.did),
    "feed_rolled_back",
    "Cannot trust feed",
  );
});

Deno.test("malformed entity tags are neither kept nor sent", async () => {
  await using watched = await watchIssuer(2, key1);
  const { consumer, server, lines } = watched;
  const odd = [
    "unquoted",
    '"a"b"',
    '"tab\there"',
    `"${"x".repeat(300)}"`,
    '"ok", "two"',
    "*",
    '"\u00e9"',
  ];
  for (const etag of odd) {
    server.documents.set(
      PATHS.feed,
      () => new Response(feedOf(lines), { headers: { etag } }),
    );
    await consumer.verify(server.did);
    await consumer.verify(server.did);
    assertEquals(last(server.of(PATHS.feed)).ifNoneMatch, null, etag);
  }
  const weak = 'W/"one"';
  server.documents.set(
    PATHS.feed,
    () => new Response(feedOf(lines), { headers: { etag: weak } }),
  );
  await consumer.verify(server.did);
  await consumer.verify(server.did);
  assertEquals(last(server.of(PATHS.feed)).ifNoneMatch, weak);
});
