import {
  assert,
  assertEquals,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { SigError } from "@sig/core";
import { revoke } from "../../tests/kit/events.ts";
import {
  importTestKeys,
  lineOf,
  makeLines,
  NOW,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { type App, createApp } from "../app.ts";
import { readCursor, writeCursor } from "../ask/state_pages.ts";
import {
  EXAMPLE_FEED,
  inlineFeedOf,
  SHORT_FEED,
} from "../testdata/example_feed.ts";
import { type Asked, now, post, serveIssuer } from "../testdata/asking.ts";

/** Requests a page, from a cursor if there is one. */
function dump(app: App, body: object, cursor?: string | null): Promise<Asked> {
  return post(app, "/v1/dump-state", { ...body, cursor: cursor ?? undefined });
}

/** The relationships of a page. */
function idsOf({ body }: Asked): readonly string[] {
  return Object.keys(body.by_relationship_id);
}

Deno.test("pages follow the feed, are complete and end with null", async () => {
  await using issuer = await serveIssuer({ events: 12 });
  const { app, server } = issuer;
  const seen: string[] = [];
  let cursor: string | null | undefined;
  let pages = 0;
  while (cursor !== null) {
    const page = await dump(app, { issuer: server.did, limit: 5 }, cursor);
    const { status, body } = page;
    assertEquals(status, 200, JSON.stringify(body));
    assertEquals(Object.keys(body), [
      "issuer",
      "last_sequence",
      "by_relationship_id",
      "next_cursor",
    ]);
    seen.push(...idsOf(page));
    cursor = body.next_cursor;
    pages++;
  }
  assertEquals(pages, 3);
  const all = Array.from({ length: 12 }, (_, i) => `rel-${i + 1}`);
  assertEquals(seen, all);
});

Deno.test("all pages show the state and the time of the first", async () => {
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
  const gone = revoke(5, {
    issuer: server.did,
    issued_at: "2026-01-02T00:00:00Z",
    relationship_id: "rel-2",
    effective_at: "2026-01-02T00:00:00Z",
  });
  const later = upsert(6, { issuer: server.did, relationship_id: "rel-4" });
  publish(old);
  const question = { issuer: server.did, status: "active", limit: 1 };
  const first = await dump(app, question);
  assertEquals(idsOf(first), ["rel-1"]);
  publish([...old, await lineOf({ ...gone }, key!), await lineOf(later, key!)]);
  ms += 60_000;
  // The other app stands for another process, or for one after a restart.
  const other = createApp({
    issuers: [server.did],
    allowPrivate: true,
    now: () => new Date(ms),
  });
  for (const each of [app, other]) {
    const rest: string[] = [];
    let { next_cursor: cursor } = first.body;
    while (cursor !== null) {
      const page = await dump(each, question, cursor);
      assertEquals(page.body.last_sequence, 4);
      rest.push(...idsOf(page));
      cursor = page.body.next_cursor;
    }
    assertEquals(rest, ["rel-2", "rel-3", "rel-9"]);
  }
  const fresh = await dump(app, { ...question, limit: 9 });
  assertEquals(fresh.body.last_sequence, 6);
  assertEquals(idsOf(fresh), ["rel-1", "rel-3", "rel-4"]);
});

Deno.test("a page of large relationships ends at 4 MiB, and the next continues there", async () => {
  const [key] = await importTestKeys();
  await using issuer = await serveIssuer({ events: 0 });
  const { app, server, publish } = issuer;
  // 110 of 40,000 characters are 4.4 million.
  const roles = ["r".repeat(40_000)];
  publish(await makeLines(110, key!, { issuer: server.did, roles }));
  const question = { issuer: server.did, limit: 1_000 };
  const first = await dump(app, question);
  assertEquals(idsOf(first).length, 103);
  const { length } = JSON.stringify(first.body);
  assert(length < 4.1 * 1024 * 1024, `${length} characters`);
  const second = await dump(app, question, first.body.next_cursor);
  assertEquals(second.body.next_cursor, null);
  const all = Array.from({ length: 110 }, (_, i) => `rel-${i + 1}`);
  assertEquals([...idsOf(first), ...idsOf(second)], all);
});

Deno.test("a cursor belongs to its question", async () => {
  const app = createApp({ now });
  const question = { feed: EXAMPLE_FEED, limit: 1 };
  const { next_cursor: cursor } = (await dump(app, question)).body;
  assert(typeof cursor === "string");
  const second = await dump(app, question, cursor);
  assertEquals(idsOf(second), ["bob-1"]);
  assertEquals(second.body.next_cursor, null);
  const others = [
    { status: "active" },
    { subject: "did:web:bob.example" },
    { as_of: 1 },
    { at: "2026-02-01T00:00:00Z" },
  ];
  for (const other of others) {
    const found = await dump(app, { ...question, ...other }, cursor);
    const { body } = found;
    assertEquals(
      [found.status, body.code, body.pointer],
      [400, "invalid_request", "/cursor"],
    );
    assertStringIncludes(body.detail, "it belongs to another question");
  }
  const short = { ...question, feed: SHORT_FEED };
  const { status, body } = await dump(app, short, cursor);
  assertEquals([status, body.code], [409, "consistency_unavailable"]);
});

Deno.test("a cursor belongs to its history", async () => {
  const [key] = await importTestKeys();
  const lines = await makeLines(3, key!);
  const app = createApp({ now });
  const ask = (lines: readonly string[], cursor?: string) =>
    dump(app, { feed: inlineFeedOf(lines), limit: 1 }, cursor);
  const cursor = (await ask(lines)).body.next_cursor;
  const grown = [...lines, await lineOf(upsert(4), key!)];
  for (const same of [lines, grown]) {
    const page = await ask(same, cursor);
    assertEquals([idsOf(page), page.body.last_sequence], [["rel-2"], 3]);
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
  const ask = (filter: object) => dump(app, { feed: EXAMPLE_FEED, ...filter });
  const ids = async (filter: object) => idsOf(await ask(filter));
  assertEquals(await ids({ as_of: 1 }), ["alice-1"]);
  assertEquals((await ask({ as_of: 1 })).body.last_sequence, 1);
  assertEquals(await ids({ subject: "did:web:bob.example" }), ["bob-1"]);
  assertEquals(await ids({ status: "revoked" }), ["bob-1"]);
  assertEquals(await ids({ at: "2026-01-06T00:00:00Z" }), ["alice-1"]);
  for (const [as_of, sequence] of [[9, 9], ["9".repeat(20), 2 ** 53 - 1]]) {
    const { body } = await ask({ as_of });
    assertEquals([body.code, body.detail], [
      "consistency_unavailable",
      `Cannot judge as of sequence ${sequence}: the feed ends at 3`,
    ]);
  }
});

Deno.test("an empty feed has one empty page", async () => {
  const feed = { ...EXAMPLE_FEED, events: "" };
  const { status, body } = await dump(createApp({ now }), { feed });
  assertEquals([status, body], [200, {
    issuer: "did:web:acme.example",
    last_sequence: 0,
    by_relationship_id: {},
    next_cursor: null,
  }]);
});

Deno.test("unusual identifiers keep their order and are plain keys", async () => {
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
  const { text } = await dump(app, { issuer: server.did });
  const places = ids.map((id) => text.indexOf(`${JSON.stringify(id)}:{`));
  assertEquals(places, [...places].sort((a, b) => a - b));
  assert(places.every((place) => place > 0));
});

Deno.test("only the exact text of a cursor is accepted", () => {
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
  const error = assertThrows(work, SigError, "Cannot go on from cursor");
  assertEquals(error.code, "invalid_request");
}
