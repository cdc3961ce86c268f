// The requests of a refresh, and its result.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { feedOf, importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { countYields } from "../../tests/kit/wait.ts";
import { last, watchIssuer } from "../../tests/kit/watched_issuer.ts";
import { sha256Hex } from "../memory/pin.ts";

const [key1, , stranger] = await importTestKeys();

const sha256 = (lines: readonly string[]) => sha256Hex(feedOf(lines));

/** Returns the range that begins with the last of these lines. */
const rangeAfter = (lines: readonly string[]) =>
  `bytes=${feedOf(lines.slice(0, -1)).length}-`;

Deno.test("an unchanged issuer gets four requests and sends no bodies", async () => {
  await using issuer = await watchIssuer(5, key1);
  const { consumer, did, server, lines } = issuer;
  const first = await consumer.observe(did, { maxAgeMs: 0 });
  assertEquals(first.continuity, "first_seen");
  assertEquals(
    server.exchanges.map(({ status, ifNoneMatch }) => [status, ifNoneMatch]),
    Array(4).fill([200, null]),
  );
  issuer.wait(1000);
  const second = await consumer.observe(did, { maxAgeMs: 0 });
  assertEquals(second.continuity, "consistent");
  assertEquals(second.freshness.observed_at, "2026-06-01T00:00:01Z");
  assertEquals(
    server.exchanges.slice(4).map(({ status, bytes }) => [status, bytes]),
    Array(4).fill([304, 0]),
  );
  assertEquals(second.verified.feed.sha256, await sha256(lines));
  assertEquals(second.verified.state.last_sequence, 5);
  assertEquals(second.verified.feed.keys, first.verified.feed.keys);
});

Deno.test("only the tail of a longer feed is transferred", async () => {
  await using issuer = await watchIssuer(8, key1);
  const { consumer, did, server, lines } = issuer;
  const before = await issuer.verify();
  const tail = [await issuer.line(9, key1), await issuer.line(10, key1)];
  const all = [...lines, ...tail];
  issuer.publish(all);
  const asked = await consumer.observe(did, { maxAgeMs: 0 });
  const { continuity, verified: { feed, state } } = asked;
  const { status, bytes, range } = last(server.of(PATHS.feed));
  // A tail begins with the last known line.
  const expected = feedOf([lines.at(-1)!, ...tail]).length;
  assertEquals([status, bytes, range], [206, expected, rangeAfter(lines)]);
  assertEquals(
    [continuity, feed.verifiedEvents, feed.bytes, feed.sha256],
    ["consistent", 10, feedOf(all).length, await sha256(all)],
  );
  assertEquals(feed.keys[0]?.last_sequence, 10);
  assertEquals(state.by_relationship_id.size, 10);
  // Earlier results do not change.
  assertEquals(before.state.by_relationship_id.size, 8);
  assertEquals(before.feed.keys[0]?.last_sequence, 8);
});

Deno.test("each refresh checks warnings about future events by its own clock", async () => {
  await using issuer = await watchIssuer(1, key1);
  await issuer.verify();
  const issued_at = "2026-06-01T02:00:00Z";
  issuer.publish([...issuer.lines, await issuer.line(2, key1, { issued_at })]);
  for (const codes of [["issued_at_future"], []]) {
    issuer.wait(60 * 60 * 1000);
    const { warnings } = await issuer.verify();
    assertEquals(warnings.map(({ code }) => code), codes);
  }
});

Deno.test("a warning about the media type holds while the feed is unchanged", async () => {
  await using issuer = await watchIssuer(1, key1);
  const { server, lines, line, publish } = issuer;
  await issuer.verify();
  publish([...lines, await line(2, key1)]);
  const serve = server.documents.get(PATHS.feed) as Uint8Array<ArrayBuffer>;
  server.documents.set(
    PATHS.feed,
    ({ headers }) =>
      headers.get("if-none-match") === '"2"'
        ? new Response(null, { status: 304 })
        : new Response(serve, {
          headers: { etag: '"2"', "content-type": "text/plain" },
        }),
  );
  for (const status of [200, 304]) {
    const { warnings } = await issuer.verify();
    assertEquals(warnings.map(({ code }) => code), ["media_type_unexpected"]);
    assertEquals(last(issuer.statuses()), status);
  }
});

Deno.test("an error of onEvent is not a fault of the issuer", async () => {
  let fails = false;
  const onEvent = () => {
    if (fails) throw new Error("not handled");
  };
  await using issuer = await watchIssuer(1, key1, { onEvent });
  await issuer.verify();
  issuer.publish([...issuer.lines, await issuer.line(2, key1)]);
  fails = true;
  await assertRejects(() => issuer.verify(), Error, "not handled");
  const asked = issuer.statuses().length;
  assertEquals((await issuer.check()).last_sequence, 1);
  assertEquals(issuer.statuses().length, asked);
});

Deno.test("an empty feed can grow", async () => {
  await using issuer = await watchIssuer(0, key1);
  const lines: string[] = [];
  for (const size of [0, 1, 2]) {
    if (size > 0) lines.push(await issuer.line(size, key1));
    issuer.publish(lines);
    const { state } = await issuer.verify();
    assertEquals(state.by_relationship_id.size, size);
  }
  // A feed of one line is requested from byte 0.
  assertEquals(last(issuer.server.of(PATHS.feed)).range, "bytes=0-");
});

for (
  const [etags, ranges, statuses] of [
    [false, false, [200, 200, 200]],
    [false, true, [200, 206, 206]],
    [true, false, [200, 304, 200]],
  ] as const
) {
  Deno.test(`refreshes from a server (entity tags: ${etags}, ranges: ${ranges})`, async () => {
    await using issuer = await watchIssuer(6, key1);
    const { server, lines } = issuer;
    Object.assign(server, { etags, ranges });
    await issuer.verify();
    await issuer.verify();
    const all = [...lines, await issuer.line(7, key1)];
    issuer.publish(all);
    const { feed } = await issuer.verify();
    assertEquals([feed.sha256, feed.verifiedEvents], [await sha256(all), 7]);
    assertEquals(issuer.statuses(), statuses);
    if (ranges) {
      assertEquals(last(server.of(PATHS.feed)).range, rangeAfter(lines));
    }
    issuer.publish(lines.slice(0, 5));
    await issuer.refused(
      "feed_rolled_back",
      "Cannot trust feed: the feed ends at sequence 5, but 7 events are",
    );
  });
}

Deno.test("after a wrong content-range the whole feed is requested", async () => {
  await using issuer = await watchIssuer(4, key1);
  await issuer.verify();
  const grown = feedOf([...issuer.lines, await issuer.line(5, key1)]);
  const { length } = grown;
  for (
    const range of [
      ...[`bytes 0-${length - 1}/${length}`, `bytes 17-20/${length}`],
      ...["bytes */0", "nonsense"],
    ]
  ) {
    const wrong = { status: 206, headers: { "content-range": range } };
    issuer.server.documents.set(
      PATHS.feed,
      ({ headers }) => new Response(grown, headers.has("range") ? wrong : {}),
    );
    assertEquals((await issuer.verify()).feed.verifiedEvents, 5, range);
  }
});

Deno.test("a truncated tail is a fault, and the next read verifies from the start", async () => {
  const yields = countYields();
  await using issuer = await watchIssuer(130, key1, yields);
  const { server, lines } = issuer;
  await issuer.verify();
  const tail = [await issuer.line(131, key1), await issuer.line(132, key1)];
  const whole = feedOf([...lines, ...tail]);
  server.documents.set(PATHS.feed, whole.slice(0, -1));
  const { context } = await issuer.refused(
    "incomplete_line",
    "Cannot verify feed: the last line must end in LF",
  );
  assertEquals([context.line, context.sequence], [132, 132]);
  server.documents.set(PATHS.feed, whole);
  assertEquals((await issuer.verify()).feed.verifiedEvents, 132);
  assertEquals(yields.count, 2);
  // After a fault no request is conditional.
  assertEquals(
    server.exchanges.slice(-4).map(({ status, ifNoneMatch, range }) => [
      ...[status, ifNoneMatch, range],
    ]),
    Array(4).fill([200, null, null]),
  );
});

Deno.test("a fault in the middle of a tail discards the whole tail", async () => {
  await using issuer = await watchIssuer(4, key1);
  const { lines } = issuer;
  const before = await issuer.verify();
  const five = await issuer.line(5, key1);
  issuer.publish([...lines, five, await issuer.line(6, stranger)]);
  await issuer.refused("signature_invalid", "Cannot verify feed");
  assertEquals(before.state.by_relationship_id.size, 4);
  // Event 5 is not remembered, so a different event 5 is accepted.
  issuer.publish([...lines, await issuer.line(5, key1, { roles: ["admin"] })]);
  const { by_relationship_id } = (await issuer.verify()).state;
  assertEquals(by_relationship_id.get("rel-5")?.roles, ["admin"]);
  assertEquals(by_relationship_id.size, 5);
});

Deno.test("a change of public_only applies to all events immediately", async () => {
  for (const isStrictAtFirst of [true, false]) {
    await using issuer = await watchIssuer(1, key1);
    const { documents } = issuer.server;
    const strict = documents.get(PATHS.metadata) as string;
    const lax = strict.replace('"public_only":true', '"public_only":false');
    const secret = await issuer.line(2, key1, { visibility: "private" });
    if (isStrictAtFirst) await issuer.verify();
    documents.set(PATHS.metadata, lax);
    issuer.publish([...issuer.lines, secret]);
    assertEquals((await issuer.verify()).feed.verifiedEvents, 2);
    documents.set(PATHS.metadata, strict);
    const message = "Cannot verify feed";
    await issuer.refused("private_event_in_public_feed", message);
    documents.set(PATHS.metadata, lax);
    assertEquals((await issuer.verify()).feed.verifiedEvents, 2);
  }
});

Deno.test("only a well-formed entity tag is kept and sent", async () => {
  await using issuer = await watchIssuer(2, key1);
  const { server, lines } = issuer;
  const sentFor = async (etag: string) => {
    server.documents.set(
      PATHS.feed,
      () => new Response(feedOf(lines), { headers: { etag } }),
    );
    await issuer.verify();
    await issuer.verify();
    return last(server.of(PATHS.feed)).ifNoneMatch;
  };
  for (
    const etag of [
      ...["unquoted", '"a"b"', '"tab\there"', `"${"x".repeat(300)}"`],
      ...['"ok", "two"', "*", '"\u00e9"'],
    ]
  ) assertEquals(await sentFor(etag), null, etag);
  assertEquals(await sentFor('W/"one"'), 'W/"one"');
});

Deno.test("onProgress gets the bytes read, and the total of feed or tail", async () => {
  const reported: (number | undefined)[][] = [];
  await using issuer = await watchIssuer(300, key1, {
    onProgress: (...bytes) => reported.push(bytes),
  });
  await issuer.verify();
  const { length } = issuer.server.documents.get(PATHS.feed)!;
  assertEquals(reported.at(-1), [length, length]);
  assertEquals(new Set(reported.map(([, all]) => all)), new Set([length]));
  issuer.publish([...issuer.lines, await issuer.line(301, key1)]);
  const before = reported.length;
  await issuer.verify();
  const [bytes, total] = reported.at(-1)!;
  assert(reported.length > before);
  assertEquals(bytes, total);
});
