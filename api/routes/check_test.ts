import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { status } from "../../tests/kit/issuer_server.ts";
import {
  importTestKeys,
  lineOf,
  NOW,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import { SHORT_FEED } from "../testdata/example_feed.ts";
import {
  evaluationOf,
  now,
  post,
  QUESTION,
  serveIssuer,
} from "../testdata/asking.ts";

/** How often the feed was fetched. */
function fetches(requests: readonly string[]): number {
  return requests.filter((path) => path === PATHS.feed).length;
}

Deno.test("a DID, a host and a URL share one fetch of an issuer", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  const host = server.origin.slice("http://".length);
  const sources = [
    { issuer: server.did },
    { issuer: host },
    { sig: server.origin + PATHS.metadata },
  ];
  for (const source of sources) {
    const { status, body } = await post(app, "/v1/check", {
      ...source,
      ...QUESTION,
    });
    assertEquals(status, 200, JSON.stringify(body));
    assertEquals(body.decision, "allow");
    assertEquals(body.source, "http");
    assertEquals(body.issuer, server.did);
    assertEquals(body.last_sequence, 3);
    assertEquals(body.continuity, "first_seen");
    assertEquals(body.freshness, {
      observed_at: "2026-06-01T00:00:00Z",
      age_seconds: 0,
      max_age_seconds: 60,
      status: "fresh",
    });
  }
  // An issuer receives only the paths of its documents, never a subject.
  assertEquals([...server.requests].sort(), Object.values(PATHS).sort());
});

Deno.test("only listed issuers are queried, with any-issuer all", async () => {
  await using issuer = await serveIssuer({ issuers: [] });
  const question = { issuer: issuer.server.did, ...QUESTION };
  const closed = await post(issuer.app, "/v1/check", question);
  assertEquals([closed.status, closed.body.code], [403, "issuer_not_allowed"]);
  assertEquals(issuer.server.requests, []);
  const open = createApp({ anyIssuer: true, allowPrivate: true, now });
  const answered = await post(open, "/v1/check", question);
  assertEquals([answered.status, answered.body.decision], [200, "allow"]);
});

Deno.test("a batch keeps its order across several issuers and feeds", async () => {
  await using a = await serveIssuer();
  await using b = await serveIssuer({ events: 5 });
  const app = createApp({
    issuers: [a.server.did, b.server.did],
    allowPrivate: true,
    now,
  });
  const { body } = await post(app, "/v1/check", {
    checks: [
      { issuer: b.server.did, ...QUESTION },
      { issuer: "other.example", ...QUESTION },
      { issuer: a.server.did, ...QUESTION },
      { issuer: b.server.did, ...QUESTION, as_of: 9 },
    ],
  });
  const [first, second, third, fourth] = body.results;
  assertEquals([first.last_sequence, third.last_sequence], [5, 3]);
  assertEquals(second.error.code, "issuer_not_allowed");
  assertEquals(second.error.instance, fourth.error.instance);
  assertEquals(fourth.error.code, "consistency_unavailable");
  assertEquals(fourth.error.status, 409);
});

Deno.test("max_age_seconds can only be stricter, and 0 fetches now", async () => {
  let ms = NOW.getTime();
  await using issuer = await serveIssuer({ now: () => new Date(ms) });
  const { app, server } = issuer;
  const ask = async (max_age_seconds?: number) =>
    (await post(app, "/v1/check", {
      issuer: server.did,
      ...QUESTION,
      ...(max_age_seconds === undefined ? {} : { max_age_seconds }),
    })).body;
  assertEquals((await ask()).continuity, "first_seen");
  assertEquals(fetches(server.requests), 1);
  ms += 30_000;
  assertEquals((await ask(2 ** 53 - 1)).freshness.age_seconds, 30);
  assertEquals(fetches(server.requests), 1);
  const now = await ask(0);
  assertEquals([now.freshness.age_seconds, now.continuity], [0, "consistent"]);
  assertEquals(fetches(server.requests), 2);
  ms += 30_000;
  await ask(10);
  assertEquals(fetches(server.requests), 3);
  ms += 61_000;
  await ask(600);
  assertEquals(fetches(server.requests), 4);
});

Deno.test("min_sequence beyond the end of an inline feed is an error", async () => {
  const app = createApp({ now });
  const { status, body } = await post(app, "/v1/check", {
    feed: SHORT_FEED,
    ...QUESTION,
    min_sequence: 2,
    max_age_seconds: 0,
  });
  assertEquals([status, body.code], [409, "consistency_unavailable"]);
  assertStringIncludes(body.detail, "the feed ends at sequence 1");
});

Deno.test("an invalid or contradictory feed never gets a decision", async (t) => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ maxAgeMs: 0 });
  const { app, server, publish, lines } = issuer;
  const question = { issuer: server.did, ...QUESTION };
  const fourth = await lineOf(upsert(4, { issuer: server.did }), key!);
  const { signature } = JSON.parse(lines[2]!);
  const forged = JSON.stringify({ ...JSON.parse(fourth), signature });
  const { documents } = server;
  const renamed = () =>
    String(documents.get(PATHS.metadata))
      .replace(server.did, "did:web:other.example");
  const troubles: readonly (readonly [string, () => unknown, string])[] = [
    ["shortened", () => publish(2), "409 feed_rolled_back"],
    ["forged", () => publish([...lines, forged]), "422 signature_invalid"],
    [
      "answered with 500",
      () => documents.set(PATHS.feed, status(500)),
      "502 fetch_status",
    ],
    [
      "without metadata",
      () => documents.delete(PATHS.metadata),
      "502 fetch_status",
    ],
    [
      "of another issuer",
      () => documents.set(PATHS.metadata, renamed()),
      "422 issuer_mismatch",
    ],
  ];
  const before = await post(app, "/v1/check", question);
  assertEquals(before.body.decision, "allow");
  const evaluation = evaluationOf(server.did);
  for (const [name, make, expected] of troubles) {
    await t.step(name, async () => {
      publish(3);
      make();
      const requests = [
        ["/v1/check", question],
        ["/v1/check", question],
        ["/v1/dump-state", { issuer: server.did }],
        ["/access/v1/evaluation", evaluation],
      ] as const;
      for (const [path, body] of requests) {
        const { status, body: problem } = await post(app, path, body);
        assertEquals(`${status} ${problem.code}`, expected, path);
        assert(!("decision" in problem) && !("by_relationship_id" in problem));
      }
      publish(3);
      const after = await post(app, "/v1/check", question);
      assertEquals(after.body.decision, "allow", JSON.stringify(after.body));
    });
  }
});

Deno.test("limits of the API are stricter than those of the library", async () => {
  await using issuer = await serveIssuer();
  const { app, server } = issuer;
  let sent = 0;
  server.documents.set(PATHS.feed, () => {
    const endless = new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const headers = { "content-length": String(65 * 1024 * 1024) };
    return new Response(endless, { headers });
  });
  const { status, body } = await post(app, "/v1/check", {
    issuer: server.did,
    ...QUESTION,
  });
  assertEquals([status, body.code], [413, "feed_too_large"]);
  assertEquals(body.limit, 64 * 1024 * 1024);
  assert(sent < 8 * 1024 * 1024, `${sent}`);
});

Deno.test("rejects invalid options", () => {
  assertThrows(() => createApp({ issuers: ["./x"] }), Error, "./x");
  assertThrows(
    () => createApp({ publicUrl: "https://a.example/x" }),
    Error,
    "it must be an origin",
  );
});

Deno.test("while an issuer can't be reached, graceMs lets an older state answer as stale; without it the answer is 503 with Retry-After", async () => {
  for (const graceMs of [undefined, 100_000]) {
    let ms = NOW.getTime();
    const clock = { now: () => new Date(ms) };
    await using issuer = await serveIssuer({ ...clock, graceMs });
    const { app, server } = issuer;
    const question = { issuer: server.did, ...QUESTION };
    await post(app, "/v1/check", question);
    server.documents.set(PATHS.metadata, status(503));
    ms += 61_000;
    const first = await post(app, "/v1/check", question);
    const { body, headers, ...second } = await post(app, "/v1/check", question);
    if (graceMs === undefined) {
      assertEquals([first.status, first.body.code], [503, "feed_stale"]);
      assertEquals([second.status, body.code], [503, "feed_stale"]);
      assertEquals(headers.get("retry-after"), "2");
    } else {
      const { age_seconds, max_age_seconds, status } = body.freshness;
      assertEquals([body.decision, status], ["allow", "stale"]);
      assertEquals([age_seconds, max_age_seconds], [61, 60]);
    }
  }
});
