import { assert, assertEquals, assertNotEquals } from "@std/assert";
import {
  generateSigningKey,
  importSigningKey,
  type SigningKey,
} from "@sig/jose";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import {
  ALICE,
  feedOf,
  importTestKeys,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";
import {
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

// The stranger's key has the kid of the first.
const [key1, key2, stranger] = await importTestKeys();
assert(key1 && key2 && stranger);
const DAY_MS = 24 * 60 * 60 * 1000;
const OVERLAP_BYTES = 1024;

/** The decision about one relationship, from the issuer as it is now. */
async function decide(
  { consumer, server }: WatchedIssuer,
  relationship: string,
): Promise<string> {
  const { decision } = await consumer.check(server.did, {
    subject: ALICE,
    require: [`relationship_id=${relationship}`],
    maxAgeSeconds: 0,
  });
  return decision;
}

async function sha256(lines: readonly string[]): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", feedOf(lines));
  return new Uint8Array(hash).toHex();
}

function last<T>(items: readonly T[]): T {
  return items.at(-1)!;
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
  assertEquals(bytes, OVERLAP_BYTES + feedOf(tail).length);
  assertEquals(range, `bytes=${feedOf(lines).length - OVERLAP_BYTES}-`);
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
  // The first line is shorter than the overlap: all of it is asked for.
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
      assertEquals(range, `bytes=${known - OVERLAP_BYTES}-`);
    }
    watched.publish(lines.slice(0, 5));
    await expectSigError(
      () => consumer.verify(server.did),
      "feed_rolled_back",
      "Cannot trust feed: the feed ends at sequence 5, but 7 events are",
    );
  });
}

Deno.test("known events of a whole feed are compared, not verified again", async () => {
  const breaths: number[] = [];
  await using watched = await watchIssuer(300, key1, {
    breathe: () => {
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
  const error = await expectSigError(
    () => consumer.verify(server.did),
    "feed_rewritten",
    "Cannot trust feed: event 2 is not the one that is remembered",
  );
  assertEquals(error.context.sequence, 2);
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
  const error = await expectSigError(
    () => consumer.verify(server.did),
    "feed_rewritten",
    "Cannot trust feed: event 2 is not the one that is remembered",
  );
  assertEquals(error.context.sequence, 2);
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
    "Cannot trust feed: event 4 is not the one that is remembered",
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
    breathe: () => {
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

Deno.test("a DID document that withdraws a key is seen while the feed is unchanged", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const did = JSON.parse(server.documents.get(PATHS.did) as string);
  server.documents.set(
    PATHS.did,
    JSON.stringify({ ...did, assertionMethod: [] }),
  );
  const error = await expectSigError(
    () => consumer.verify(server.did),
    "key_withdrawn",
    "is no longer authorised by the DID document",
  );
  assertEquals(error.context.kid, key1.publicJwk.kid);
  assertEquals(server.of(PATHS.jwks).map(({ status }) => status), [200, 304]);
});

Deno.test("a DID document that goes leaves the keys; one that comes counts", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  const did = server.documents.get(PATHS.did) as string;
  server.documents.delete(PATHS.did);
  const codes = async () =>
    (await consumer.verify(server.did)).warnings.map(({ code }) => code);
  assertEquals(await codes(), ["did_document_missing"]);
  assertEquals(await codes(), ["did_document_missing"]);
  server.documents.set(PATHS.did, did);
  assertEquals(await codes(), []);
  assertEquals(await codes(), []);
  server.documents.delete(PATHS.did);
  assertEquals(await codes(), ["did_document_missing"]);
  const none = { ...JSON.parse(did), assertionMethod: [] };
  server.documents.set(PATHS.did, JSON.stringify(none));
  await expectSigError(codes, "key_withdrawn", "Cannot trust feed: key");
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

Deno.test("keys that moved are not asked for by the old place's entity tag", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const metadata = server.documents.get(PATHS.metadata) as string;
  const moved = "/.well-known/moved.json";
  server.documents.set(PATHS.metadata, metadata.replace(PATHS.jwks, moved));
  server.documents.set(moved, '{"keys":[]}');
  await expectSigError(
    () => consumer.verify(server.did),
    "key_withdrawn",
    "is no longer published",
  );
  assertEquals(last(server.of(moved)).ifNoneMatch, null);
});

Deno.test("metadata that names another issuer is its own error", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  await consumer.verify(server.did);
  const { origin } = server;
  const other = makeDocuments({ origin, keys: [key1], lines: [] });
  server.documents.set(PATHS.metadata, other.get(PATHS.metadata)!);
  await expectSigError(
    () => consumer.verify(server.did),
    "issuer_mismatch",
    "Cannot trust metadata",
  );
});

Deno.test("a key that is added signs what follows", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  watched.publishKeys([key1, key2]);
  watched.publish([...lines, await watched.line(4, key2)]);
  const { feed } = await consumer.verify(server.did);
  assertEquals(feed.keys.map(({ kid, events }) => [kid, events]), [
    [key1.publicJwk.kid!, 3],
    [key2.publicJwk.kid!, 1],
  ]);
});

Deno.test("a key that has signed nothing may go", async () => {
  await using watched = await watchIssuer(3, key1);
  const { consumer, server } = watched;
  watched.publishKeys([key1, key2]);
  await consumer.verify(server.did);
  watched.publishKeys([key1]);
  assertEquals((await consumer.verify(server.did)).warnings, []);
});

/** Serves one key set first, and another from the second request on. */
function switchKeys(
  { server, publishKeys }: WatchedIssuer,
  first: readonly SigningKey[],
  then: readonly SigningKey[],
): void {
  publishKeys(first);
  server.documents.delete(PATHS.did);
  const early = server.documents.get(PATHS.jwks) as string;
  publishKeys(then);
  server.documents.delete(PATHS.did);
  const late = server.documents.get(PATHS.jwks) as string;
  let isFirst = true;
  server.documents.set(PATHS.jwks, () => {
    const response = new Response(isFirst ? early : late, {
      headers: { etag: '"keys"' },
    });
    isFirst = false;
    return response;
  });
}

Deno.test("keys that come while the feed is read are fetched again, and nothing is kept of the older", async () => {
  for (const isKnown of [false, true]) {
    await using watched = await watchIssuer(3, key1);
    const { consumer, server, lines } = watched;
    if (isKnown) await consumer.verify(server.did);
    const four = await watched.line(4, key2);
    watched.publish([...lines, four]);
    switchKeys(watched, [key1], [key1, key2]);
    assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 4);
    watched.publish([...lines, four, await watched.line(5, key2)]);
    assertEquals((await consumer.verify(server.did)).feed.verifiedEvents, 5);
    assertEquals(last(server.of(PATHS.jwks)).ifNoneMatch, null);
    assertEquals(last(server.of(PATHS.feed)).status, 206);
  }
});

Deno.test("keys that change while the feed is read are no less replaced or withdrawn", async () => {
  for (const isKnown of [false, true]) {
    for (
      const [then, code] of [
        [[stranger, key2], "key_replaced"],
        [[key2], "key_withdrawn"],
      ] as const
    ) {
      await using watched = await watchIssuer(3, key1);
      const { consumer, server, lines } = watched;
      if (isKnown) await consumer.verify(server.did);
      watched.publish([...lines, await watched.line(4, key2)]);
      switchKeys(watched, [key1], then);
      await expectSigError(
        () => consumer.verify(server.did),
        code,
        "Cannot trust feed",
      );
    }
  }
});

Deno.test("a tail that was verified and then refused is not taken for known", async () => {
  await using watched = await watchIssuer(3, key2);
  const { consumer, server, lines } = watched;
  await consumer.verify(server.did);
  const fresh = await importSigningKey(
    await generateSigningKey({ kid: "fresh" }),
  );
  watched.publish([
    ...lines,
    await watched.line(4, stranger),
    await watched.line(5, fresh),
  ]);
  // Event 4 is verified with a key that is another one a moment later.
  switchKeys(watched, [key2, stranger], [key2, key1, fresh]);
  await expectSigError(
    () => consumer.verify(server.did),
    "key_replaced",
    "Cannot trust feed",
  );
  watched.publishKeys([key2, stranger, fresh]);
  const { feed, warnings } = await consumer.verify(server.did);
  assertEquals(feed.verifiedEvents, 5);
  assertEquals(
    warnings.map(({ code }) => code),
    ["history_was_inconsistent"],
  );
});

Deno.test("entity tags that are none are neither kept nor sent", async () => {
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

Deno.test("10,000 unknown kids make the keys be fetched twice, then once a cooldown", async () => {
  await using watched = await watchIssuer(1, key1);
  const { consumer, server, lines } = watched;
  const line = await watched.line(2, key2);
  const parsed = JSON.parse(line);
  const unknown = Array.from({ length: 10_000 }, (_, i) => {
    const header = { alg: "EdDSA", kid: `none-${i}`, typ: "sig-event+jws" };
    const protectedHeader = new TextEncoder().encode(JSON.stringify(header))
      .toBase64({ alphabet: "base64url", omitPadding: true });
    return JSON.stringify({ ...parsed, protected: protectedHeader });
  });
  watched.publish([...lines, ...unknown]);
  const report = await consumer.report(server.did);
  assert(!report.valid);
  assertEquals(report.errors.length, 100);
  assertEquals(report.errors[0]?.code, "key_not_found");
  assertEquals(report.verified_events, 1);
  assertEquals(server.of(PATHS.jwks).length, 2);
  watched.wait(29_999);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 3);
  watched.wait(1);
  await consumer.report(server.did);
  assertEquals(server.of(PATHS.jwks).length, 5);
});
