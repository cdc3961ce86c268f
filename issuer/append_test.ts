import { DEFAULT_LIMITS } from "@sig/core";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { DID, upsert } from "./testdata/support.ts";
import { FEED, open, revoke, wrong } from "./testdata/two_relationships.ts";
import { countTurns } from "../tests/kit/wait.ts";

Deno.test("generates the missing members of a draft, in the order of docs/protocol.md §3", async () => {
  const { issuer } = await open();
  const { event, ...rest } = await issuer.append(upsert());
  const { event_id, relationship_id } = event;
  assertMatch(event_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assertMatch(relationship_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert(relationship_id > event_id);
  const places = { event_id, relationship_id, sequence: 4 };
  assertEquals(rest, { ...places, repeated: false, warnings: [] });
  assertEquals(
    JSON.stringify(event),
    `{"spec_version":"sig/0.1","event_id":"${event_id}","event_type":"relationship.upsert","issuer":"${DID}","issued_at":"2026-03-01T09:00:00Z","sequence":4,"relationship_id":"${relationship_id}","subject":"did:web:alice.example","visibility":"public","relationship_type":"employee","status":"active","roles":[],"valid_from":null,"valid_until":null}`,
  );
  // Those of a revocation are also taken from its relationship.
  const revoked = await issuer.append(revoke({ event_id: "x" }));
  assertEquals(
    JSON.stringify(revoked.event),
    `{"spec_version":"sig/0.1","event_id":"x","event_type":"relationship.revoke","issuer":"${DID}","issued_at":"2026-03-01T09:00:00Z","sequence":5,"relationship_id":"r1","subject":"did:web:alice.example","visibility":"public","revokes_relationship_id":"r1","reason_code":"employment_ended","effective_at":"2026-03-01T09:00:00Z"}`,
  );
});

Deno.test("keeps unusual names in metadata and omits optional members that are null", async () => {
  const { issuer } = await open();
  const metadata = JSON.parse('{"ticket":7,"__proto__":1}');
  const { event } = await issuer.append(upsert({ metadata }));
  assertEquals(JSON.stringify(event.metadata), JSON.stringify(metadata));
  const bare = await issuer.append(
    upsert({ display: null, reason: null, metadata: null }),
  );
  for (const name of ["display", "reason", "metadata"]) {
    assertEquals(Object.hasOwn(bare.event, name), false);
  }
});

Deno.test("repeating an event_id with equal members returns the old sequence", async () => {
  const { issuer, store } = await open();
  const before = store.files.get(FEED);
  const again = await issuer.append(
    upsert({ event_id: "first", reason: null, relationship_id: "r1" }),
  );
  assertEquals(
    [again.sequence, again.repeated, again.relationship_id],
    [1, true, "r1"],
  );
  // Also after the relationship was revoked.
  await issuer.append(revoke({ event_id: "gone" }));
  const repeated = await issuer.append(revoke({ event_id: "gone" }));
  assertEquals([repeated.sequence, repeated.repeated], [4, true]);
  const members = { event_id: "amended", relationship_id: "r2", amend: true };
  const amended = revoke(members);
  assertEquals((await issuer.append(amended)).sequence, 5);
  assertEquals((await issuer.append(amended)).repeated, true);
  const [one, two] = await issuer.appendAll([
    upsert({ event_id: "twice" }),
    upsert({ event_id: "twice" }),
  ]);
  assertEquals([one?.sequence, one?.repeated], [6, false]);
  assertEquals([two?.sequence, two?.repeated], [6, true]);
  assertEquals(before?.length === store.files.get(FEED)?.length, false);
});

Deno.test("refuses an event_id with other content", async () => {
  const { issuer } = await open();
  const event_id = "first";
  for (
    const draft of [
      upsert({ event_id, subject: "did:web:bob.example" }),
      upsert({ event_id, roles: ["deploy"] }),
      upsert({ event_id, relationship_id: "r2" }),
      upsert({ event_id, metadata: {} }),
      revoke({ event_id }),
    ]
  ) {
    const { context } = await expectSigError(
      issuer.append(draft),
      "duplicate_event_id",
      "event_id is in use at sequence 1, with other content",
    );
    assertEquals(context.sequence, 1);
  }
});

Deno.test("refuses a second revocation unless it amends the first or follows an upsert", async () => {
  const { issuer } = await open();
  await expectSigError(
    issuer.append(revoke({ relationship_id: "r2" })),
    "already_revoked",
    "the relationship is revoked already",
  );
  const { sequence } = await issuer.append(
    revoke({ relationship_id: "r2", amend: true, reason_code: "other" }),
  );
  assertEquals(sequence, 4);
  const { by_relationship_id } = await issuer.state();
  assertEquals(by_relationship_id.get("r2")?.revoked_reason_code, "other");
  const subject = "did:web:bob.example";
  await issuer.append(upsert({ relationship_id: "r2", subject }));
  const again = await issuer.append(revoke({ relationship_id: "r2" }));
  assertEquals(again.sequence, 6);
});

Deno.test("issued_at may go back at most a day from the latest one", async () => {
  const { issuer } = await open();
  await issuer.append(upsert({ issued_at: "2026-02-28T09:00:00Z" }));
  await issuer.append(upsert({ issued_at: "2026-03-01T09:01:00Z" }));
  await expectSigError(
    issuer.append(upsert({ issued_at: "2026-02-28T09:00:00Z" })),
    "invalid_field",
    "more than a day before 2026-03-01T09:01:00Z",
  );
});

Deno.test("refuses to extend a feed beyond the size limits of readers", async () => {
  const few = await open({ limits: { ...DEFAULT_LIMITS, maxEvents: 3 } });
  await expectSigError(
    few.issuer.append(upsert()),
    "too_many_events",
    "the feed has 3 events (at most 3)",
  );
  const { issuer, store } = await open();
  await issuer.append(upsert());
  const bytes = store.files.get(FEED)!.length;
  const exact = { ...DEFAULT_LIMITS, maxFeedBytes: bytes };
  await (await open({ limits: exact })).issuer.append(upsert());
  const short = { ...DEFAULT_LIMITS, maxFeedBytes: bytes - 1 };
  await expectSigError(
    (await open({ limits: short })).issuer.append(upsert()),
    "feed_too_large",
    `the feed would have more than ${bytes - 1} bytes`,
  );
});

Deno.test("a draft may build on earlier drafts of its batch", async () => {
  const { issuer } = await open();
  const results = await issuer.appendAll([
    upsert({ relationship_id: "r5" }),
    revoke({ relationship_id: "r5" }),
    upsert({ relationship_id: "r5", roles: ["x"] }),
  ]);
  assertEquals(results.map(({ sequence }) => sequence), [4, 5, 6]);
  assertEquals(await issuer.appendAll([]), []);
});

Deno.test("runs concurrent appends one after the other", async () => {
  const { issuer } = await open();
  const results = await Promise.all(
    Array.from({ length: 20 }, () => issuer.append(upsert())),
  );
  assertEquals(
    results.map(({ sequence }) => sequence),
    Array.from({ length: 20 }, (_, n) => n + 4),
  );
  const ids = results.map(({ event_id }) => event_id);
  assertEquals(ids, [...ids].sort());
});

for (
  const [name, text, code, fault] of [
    ["sig.json", "[]", "invalid_metadata", "it must be one JSON object"],
    ["did.json", "{", "invalid_did_document", "syntax error at character 1"],
    ["jwks.json", "1", "invalid_key", "it must be one JSON object"],
    [
      "jwks.json",
      '{"a":1,"a":1}',
      "duplicate_json_member",
      "a member occurs twice",
    ],
  ] as const
) {
  Deno.test(`refuses to append if ${name} has become ${text}`, async () => {
    const { issuer, store } = await open();
    const path = `/.well-known/${name}`;
    store.files.set(path, new TextEncoder().encode(text));
    const { message } = await expectSigError(
      issuer.append(upsert()),
      code,
      fault,
    );
    assertStringIncludes(message, `Cannot open issuer: "${path}": `);
  });
}

Deno.test("reads each member of a draft only once", async () => {
  const { issuer } = await open();
  let reads = 0;
  const draft = {
    ...upsert(),
    get subject() {
      return reads++ === 0 ? "did:web:alice.example" : "mallory";
    },
  };
  const { event } = await issuer.append(wrong(draft));
  assertEquals([event.subject, reads], ["did:web:alice.example", 1]);
});

Deno.test("throws a TypeError for programming errors", async () => {
  const { issuer } = await open();
  await assertRejects(
    () => issuer.append(wrong("upsert")),
    TypeError,
    "a draft must be an object",
  );
  await issuer.close();
  await assertRejects(
    () => issuer.append(upsert()),
    TypeError,
    "after it was closed",
  );
});

Deno.test("yields to the event loop while signing and reading many events", async () => {
  const { issuer } = await open();
  const drafts = Array.from({ length: 2_000 }, () => upsert());
  // The platform's threads sign the first events before the loop is counted.
  await issuer.appendAll(drafts);
  using turns = countTurns();
  await issuer.appendAll(drafts);
  assert(turns.count >= 3, `${turns.count} turns while signing`);
  turns.count = 0;
  await issuer.published();
  assert(turns.count >= 6, `${turns.count} turns while reading`);
});
