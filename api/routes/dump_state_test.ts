import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  importTestKeys,
  lineOf,
  makeDocuments,
  makeLines,
  NOW,
  PATHS,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { createApp } from "../app.ts";
import { readCursor, writeCursor } from "../ask/state_pages.ts";
import { EXAMPLE_FEED, SHORT_FEED } from "../testdata/example_feed.ts";
import { now, post, serveIssuer } from "../testdata/asking.ts";

Deno.test("pages follow the feed, are complete and end with null", async () => {
  await using issuer = await serveIssuer({ events: 12 });
  const { app, server } = issuer;
  const seen: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  while (cursor !== null) {
    const { status, body } = await post(app, "/v1/dump-state", {
      issuer: server.did,
      limit: 5,
      ...(cursor === undefined ? {} : { cursor }),
    });
    assertEquals(status, 200, JSON.stringify(body));
    assertEquals(Object.keys(body), [
      "issuer",
      "last_sequence",
      "by_relationship_id",
      "next_cursor",
    ]);
    seen.push(...Object.keys(body.by_relationship_id));
    cursor = body.next_cursor;
    pages++;
  }
  assertEquals(pages, 3);
  const all = Array.from({ length: 12 }, (_, i) => `rel-${i + 1}`);
  assertEquals(seen, all);
});

Deno.test("all pages are of the state and the instant of the first", async () => {
  const [key] = await importTestKeys();
  let ms = NOW.getTime();
  await using issuer = await serveIssuer({
    events: 3,
    maxAgeMs: 0,
    now: () => new Date(ms),
  });
  const { app, server, publish, lines } = issuer;
  const ends = upsert(4, {
    issuer: server.did,
    relationship_id: "rel-9",
    valid_until: "2026-06-01T00:00:30Z",
  });
  const old = [...lines, await lineOf(ends, key!)];
  const gone = {
    spec_version: "sig/0.1",
    event_id: "event-5",
    event_type: "relationship.revoke",
    issuer: server.did,
    issued_at: "2026-01-02T00:00:00Z",
    sequence: 5,
    relationship_id: "rel-2",
    subject: "did:web:alice.example",
    visibility: "public",
    revokes_relationship_id: "rel-2",
    reason_code: "other",
    effective_at: "2026-01-02T00:00:00Z",
  };
  const later = upsert(6, { issuer: server.did, relationship_id: "rel-4" });
  publish(old);
  const question = { issuer: server.did, status: "active", limit: 1 };
  const ask = (cursor?: string, asked = app) =>
    post(asked, "/v1/dump-state", {
      ...question,
      ...(cursor === undefined ? {} : { cursor }),
    });
  const first = await ask();
  assertEquals(Object.keys(first.body.by_relationship_id), ["rel-1"]);
  publish([...old, await lineOf(gone, key!), await lineOf(later, key!)]);
  ms += 60_000;
  // The other one stands for another process, or one that was started again.
  const other = createApp({
    issuers: [server.did],
    allowPrivate: true,
    now: () => new Date(ms),
  });
  for (const each of [app, other]) {
    const rest: string[] = [];
    let { next_cursor: cursor } = first.body;
    while (cursor !== null) {
      const { body } = await ask(cursor, each);
      assertEquals(body.last_sequence, 4);
      rest.push(...Object.keys(body.by_relationship_id));
      cursor = body.next_cursor;
    }
    assertEquals(rest, ["rel-2", "rel-3", "rel-9"]);
  }
  const fresh = await post(app, "/v1/dump-state", { ...question, limit: 9 });
  assertEquals(fresh.body.last_sequence, 6);
  assertEquals(Object.keys(fresh.body.by_relationship_id), [
    "rel-1",
    "rel-3",
    "rel-4",
  ]);
});

Deno.test("a page of large relationships ends at 4 MiB, and the next goes on there", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  // 110 of 40,000 characters are 4.4 million.
  const roles = ["r".repeat(40_000)];
  publish(await makeLines(110, key!, { issuer: server.did, roles }));
  const ask = (more: object = {}) =>
    post(app, "/v1/dump-state", { issuer: server.did, limit: 1_000, ...more });
  const { body: first } = await ask();
  const ids = Object.keys(first.by_relationship_id);
  assertEquals(ids.length, 103);
  const { length } = JSON.stringify(first);
  assert(length < 4.1 * 1024 * 1024, `${length} characters`);
  const { body: second } = await ask({ cursor: first.next_cursor });
  ids.push(...Object.keys(second.by_relationship_id));
  assertEquals(second.next_cursor, null);
  const all = Array.from({ length: 110 }, (_, i) => `rel-${i + 1}`);
  assertEquals(ids, all);
});

Deno.test("a cursor belongs to its question", async () => {
  const app = createApp({ now });
  const question = { feed: EXAMPLE_FEED, limit: 1 };
  const first = await post(app, "/v1/dump-state", question);
  const cursor = first.body.next_cursor;
  assert(typeof cursor === "string");
  const second = await post(app, "/v1/dump-state", { ...question, cursor });
  assertEquals(Object.keys(second.body.by_relationship_id), ["bob-1"]);
  assertEquals(second.body.next_cursor, null);
  const others = [
    { status: "active" },
    { subject: "did:web:bob.example" },
    { as_of: 1 },
    { at: "2026-02-01T00:00:00Z" },
  ];
  for (const other of others) {
    const { status, body } = await post(app, "/v1/dump-state", {
      ...question,
      ...other,
      cursor,
    });
    assertEquals([status, body.code, body.pointer], [
      400,
      "invalid_request",
      "/cursor",
    ]);
    assertStringIncludes(body.detail, "it belongs to another question");
  }
  const shorter = await post(app, "/v1/dump-state", {
    ...question,
    feed: SHORT_FEED,
    cursor,
  });
  assertEquals([shorter.status, shorter.body.code], [
    409,
    "consistency_unavailable",
  ]);
});

Deno.test("a cursor belongs to its history", async () => {
  const [key] = await importTestKeys();
  const lines = await makeLines(3, key!);
  const feedWith = (lines: readonly string[]) => {
    const documents = makeDocuments({ keys: [key!], lines });
    const json = (path: string) => JSON.parse(String(documents.get(path)));
    return {
      metadata: json(PATHS.metadata),
      jwks: json(PATHS.jwks),
      events: lines.map((line) => `${line}\n`).join(""),
    };
  };
  const app = createApp({ now });
  const ask = (lines: readonly string[], cursor?: string) =>
    post(app, "/v1/dump-state", {
      ...{ feed: feedWith(lines), limit: 1 },
      ...(cursor === undefined ? {} : { cursor }),
    });
  const cursor = (await ask(lines)).body.next_cursor;
  const grown = [...lines, await lineOf(upsert(4), key!)];
  for (const same of [lines, grown]) {
    const { body } = await ask(same, cursor);
    assertEquals(Object.keys(body.by_relationship_id), ["rel-2"]);
    assertEquals(body.last_sequence, 3);
  }
  const changes = [
    { issued_at: "2026-01-01T00:00:00.000000001Z" },
    { issued_at: "2026-01-01T00:00:01Z", roles: ["other"] },
  ];
  for (const change of changes) {
    const other = [...lines.slice(0, 2), await lineOf(upsert(3, change), key!)];
    for (const lines of [other, [...other, grown[3]!]]) {
      const { status, body } = await ask(lines, cursor);
      assertEquals([status, body.code, body.pointer, body.hint], [
        400,
        "invalid_request",
        "/cursor",
        "Begin again without `cursor`.",
      ]);
      assertStringIncludes(body.detail, "the feed has another event 3 now");
    }
  }
});

Deno.test("at, as_of, subject and status filter", async () => {
  const app = createApp({ now });
  const ask = async (filter: object) =>
    (await post(app, "/v1/dump-state", { feed: EXAMPLE_FEED, ...filter })).body;
  const ids = async (filter: object) =>
    Object.keys((await ask(filter)).by_relationship_id);
  assertEquals(await ids({ as_of: 1 }), ["alice-1"]);
  assertEquals((await ask({ as_of: 1 })).last_sequence, 1);
  assertEquals(await ids({ subject: "did:web:bob.example" }), ["bob-1"]);
  assertEquals(await ids({ status: "revoked" }), ["bob-1"]);
  assertEquals(await ids({ at: "2026-01-06T00:00:00Z" }), ["alice-1"]);
  const beyond = await post(app, "/v1/dump-state", {
    feed: EXAMPLE_FEED,
    as_of: 9,
  });
  assertEquals(beyond.body.code, "consistency_unavailable");
});

Deno.test("an empty feed has one empty page", async () => {
  const feed = { ...EXAMPLE_FEED, events: "" };
  const { status, body } = await post(createApp({ now }), "/v1/dump-state", {
    feed,
  });
  assertEquals([status, body], [200, {
    issuer: "did:web:acme.example",
    last_sequence: 0,
    by_relationship_id: {},
    next_cursor: null,
  }]);
});

Deno.test("odd identifiers keep their order and act as plain keys", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  const ids = ["10", "9", "__proto__", 'a"b', "constructor"];
  publish(
    await Promise.all(
      ids.map((relationship_id, i) =>
        lineOf(upsert(i + 1, { issuer: server.did, relationship_id }), key!)
      ),
    ),
  );
  const response = await app.fetch(
    new Request("http://127.0.0.1/v1/dump-state", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ issuer: server.did }),
    }),
  );
  const text = await response.text();
  const places = ids.map((id) => text.indexOf(`${JSON.stringify(id)}:{`));
  assertEquals(places, [...places].sort((a, b) => a - b));
  assert(places.every((place) => place > 0));
});

Deno.test("a cursor survives its own text only", () => {
  const cursor = {
    ...{ version: 3 as const, sequence: 7, event: "e", judgedAtMs: 1 },
    ...{ after: 'ü"/', question: "q" },
  };
  const text = writeCursor(cursor);
  assertEquals(readCursor(text, "q"), cursor);
  for (const bad of [text.slice(1), `${text}=`, `${text}A`, ""]) {
    assertMisfit(() => readCursor(bad, "q"));
  }
  const encode = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({
      alphabet: "base64url",
      omitPadding: true,
    });
  for (
    const value of [
      {},
      null,
      [2, 7, "e", 1, "a", "q"],
      ...[
        { version: 2 },
        { sequence: -1 },
        { sequence: 0 },
        { event: 5 },
        { judgedAtMs: 1e300 },
        { judgedAtMs: 9e15 },
        { after: 5 },
        { more: 1 },
      ].map((spoilt) => ({ ...cursor, ...spoilt })),
    ]
  ) assertMisfit(() => readCursor(encode(value), "q"));
});

function assertMisfit(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    assertEquals((error as { code?: unknown }).code, "invalid_request");
    assertStringIncludes((error as Error).message, "Cannot go on from cursor");
    return;
  }
  throw new Error("it did not throw");
}
