import { DEFAULT_LIMITS, type ErrorCode, type SigEvent } from "@sig/core";
import {
  createMemoryKeyStore,
  createMemoryStore,
  type EventDraft,
  initIssuer,
  type Issuer,
  type MemoryStore,
  openIssuer,
  type OpenIssuerOptions,
} from "@sig/issuer";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DID, NOW, upsert } from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { readVectors, vectorTest } from "../core/testdata/vectors.ts";

const FEED = "/.well-known/sig/events.jsonl";

/** An issuer in memory whose feed knows two relationships, one revoked. */
async function open(
  more: Partial<OpenIssuerOptions> & { readonly publicOnly?: boolean } = {},
): Promise<{ readonly issuer: Issuer; readonly store: MemoryStore }> {
  const { publicOnly = true, ...options } = more;
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID, publicOnly });
  const issuer = await openIssuer({ store, keys, now: () => NOW, ...options });
  await issuer.appendAll([
    upsert({ event_id: "first", relationship_id: "r1" }),
    upsert({ relationship_id: "r2", subject: "did:web:bob.example" }),
    revoke({ relationship_id: "r2" }),
  ]);
  return { issuer, store };
}

function revoke(more: Record<string, unknown> = {}): EventDraft {
  return {
    event_type: "relationship.revoke",
    relationship_id: "r1",
    reason_code: "employment_ended",
    ...more,
  };
}

/** A draft that TypeScript would not let through. */
const wrong = (draft: unknown) => draft as EventDraft;

Deno.test("what an upsert leaves out is generated, in the order of the seed's tables", async () => {
  const { issuer } = await open();
  const { event, ...place } = await issuer.append(upsert());
  assertMatch(event.event_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assertMatch(event.relationship_id, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert(event.relationship_id > event.event_id);
  assertEquals(place, {
    sequence: 4,
    event_id: event.event_id,
    relationship_id: event.relationship_id,
    repeated: false,
    warnings: [],
  });
  assertEquals(Object.entries(event), [
    ["spec_version", "sig/0.1"],
    ["event_id", event.event_id],
    ["event_type", "relationship.upsert"],
    ["issuer", DID],
    ["issued_at", "2026-03-01T09:00:00Z"],
    ["sequence", 4],
    ["relationship_id", event.relationship_id],
    ["subject", "did:web:alice.example"],
    ["visibility", "public"],
    ["relationship_type", "employee"],
    ["status", "active"],
    ["roles", []],
    ["valid_from", null],
    ["valid_until", null],
  ]);
});

Deno.test("what a revoke leaves out is generated or taken from its relationship", async () => {
  const { issuer } = await open();
  const { event } = await issuer.append(revoke({ event_id: "x" }));
  assertEquals(Object.entries(event), [
    ["spec_version", "sig/0.1"],
    ["event_id", "x"],
    ["event_type", "relationship.revoke"],
    ["issuer", DID],
    ["issued_at", "2026-03-01T09:00:00Z"],
    ["sequence", 4],
    ["relationship_id", "r1"],
    ["subject", "did:web:alice.example"],
    ["visibility", "public"],
    ["revokes_relationship_id", "r1"],
    ["reason_code", "employment_ended"],
    ["effective_at", "2026-03-01T09:00:00Z"],
  ]);
});

Deno.test("what a draft gives is taken over; null in an optional member is left out", async () => {
  const { issuer } = await open();
  const given = {
    event_id: "given",
    relationship_id: "r9",
    issued_at: "2026-02-28T10:00:00.5Z",
    roles: ["deploy"],
    valid_from: "2026-01-01T00:00:00Z",
    valid_until: "2027-01-01T00:00:00Z",
    display: { title: "Engineer", pronouns: "they" },
    reason: "joined",
    metadata: { ticket: 7, "__proto__": 1 },
  };
  const { event } = await issuer.append(upsert(given));
  const written = event as SigEvent & Record<string, unknown>;
  for (const [name, value] of Object.entries(given)) {
    assertEquals(written[name], value);
  }
  const bare = await issuer.append(
    upsert({ display: null, reason: null, metadata: null }),
  );
  assertEquals("display" in bare.event || "reason" in bare.event, false);
  assertEquals("metadata" in bare.event, false);
});

Deno.test("an event_id that is given again with equal members returns the old sequence", async () => {
  const { issuer, store } = await open();
  const before = store.files.get(FEED);
  const again = await issuer.append(
    upsert({ event_id: "first", reason: null, relationship_id: "r1" }),
  );
  assertEquals(
    [again.sequence, again.repeated, again.relationship_id],
    [1, true, "r1"],
  );
  // Also a day later, and when the relationship is revoked by now.
  await issuer.append(revoke({ event_id: "gone" }));
  const repeated = await issuer.append(revoke({ event_id: "gone" }));
  assertEquals([repeated.sequence, repeated.repeated], [4, true]);
  const [one, two] = await issuer.appendAll([
    upsert({ event_id: "twice" }),
    upsert({ event_id: "twice" }),
  ]);
  assertEquals([one?.sequence, one?.repeated], [5, false]);
  assertEquals([two?.sequence, two?.repeated], [5, true]);
  assertEquals(before?.length === store.files.get(FEED)?.length, false);
});

for (
  const draft of [
    upsert({ event_id: "first", subject: "did:web:bob.example" }),
    upsert({ event_id: "first", roles: ["deploy"] }),
    upsert({ event_id: "first", relationship_id: "r2" }),
    upsert({ event_id: "first", metadata: {} }),
    revoke({ event_id: "first" }),
  ]
) {
  Deno.test(`an event_id with other content is refused: ${JSON.stringify(draft)}`, async () => {
    const { issuer } = await open();
    const error = await expectSigError(
      issuer.append(draft),
      "duplicate_event_id",
      "event_id is in use at sequence 1, with other content",
    );
    assertEquals(error.context.sequence, 1);
  });
}

Deno.test("a second revoke is refused, unless it amends the first", async () => {
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
  const state = await issuer.state();
  assertEquals(
    state.by_relationship_id.get("r2")?.revoked_reason_code,
    "other",
  );
});

Deno.test("an upsert makes a revoked relationship active again", async () => {
  const { issuer } = await open();
  const subject = "did:web:bob.example";
  await issuer.append(upsert({ relationship_id: "r2", subject }));
  await issuer.append(revoke({ relationship_id: "r2" }));
  assertEquals((await issuer.state()).last_sequence, 5);
});

/** Draft, code, pointer and part of the message. */
const REFUSED: readonly [string, unknown, ErrorCode, string, string][] = [
  [
    "no relationship",
    revoke({ relationship_id: "r9" }),
    "unknown_relationship",
    "/relationship_id",
    "has no relationship",
  ],
  [
    "a relationship_id of another type",
    wrong(revoke({ relationship_id: 1 })),
    "invalid_field",
    "/relationship_id",
    "must name",
  ],
  [
    "no relationship_id",
    { event_type: "relationship.revoke", reason_code: "other" },
    "missing_field",
    "/relationship_id",
    "must name",
  ],
  [
    "no event_type",
    { subject: "did:web:a.example" },
    "missing_field",
    "/event_type",
    "event_type must be",
  ],
  [
    "another event_type",
    { event_type: "relationship.delete" },
    "unknown_event_type",
    "/event_type",
    "event_type must be",
  ],
  [
    "a misspelt member",
    { ...upsert(), role: ["deploy"] },
    "invalid_field",
    "/role",
    'no member "role"',
  ],
  [
    "a member of revokes",
    { ...upsert(), amend: true },
    "invalid_field",
    "/amend",
    'no member "amend"',
  ],
  [
    "a sequence",
    { ...upsert(), sequence: 4 },
    "invalid_field",
    "/sequence",
    "no member",
  ],
  [
    "no subject",
    { ...upsert(), subject: undefined },
    "missing_field",
    "/subject",
    "is required",
  ],
  [
    "a subject that is no DID",
    upsert({ subject: "alice" }),
    "invalid_field",
    "/subject",
    "is not a DID",
  ],
  [
    "an empty subject",
    upsert({ subject: "" }),
    "invalid_field",
    "/subject",
    "non-empty",
  ],
  [
    "a control character",
    upsert({ relationship_id: "a\nb" }),
    "invalid_field",
    "/relationship_id",
    "control",
  ],
  [
    "a lone surrogate",
    upsert({ reason: "\ud800" }),
    "invalid_field",
    "/reason",
    "surrogate",
  ],
  [
    "another relationship_type",
    wrong({ ...upsert(), relationship_type: "boss" }),
    "invalid_field",
    "/relationship_type",
    "must be one of",
  ],
  [
    "roles that are no array",
    wrong({ ...upsert(), roles: "deploy" }),
    "invalid_field",
    "/roles",
    "array of strings",
  ],
  [
    "a validity of nothing",
    upsert({
      valid_from: "2026-01-01T00:00:00Z",
      valid_until: "2026-01-01T00:00:00Z",
    }),
    "invalid_field",
    "/valid_until",
    "after valid_from",
  ],
  [
    "a local time",
    upsert({ valid_from: "2026-01-01T00:00:00" }),
    "invalid_field",
    "/valid_from",
    "RFC 3339",
  ],
  [
    "a null issued_at",
    wrong({ ...upsert(), issued_at: null }),
    "invalid_field",
    "/issued_at",
    "RFC 3339",
  ],
  [
    "an issued_at ahead of the clock",
    upsert({ issued_at: "2026-03-01T09:01:00.1Z" }),
    "invalid_field",
    "/issued_at",
    "ahead of the clock",
  ],
  [
    "an issued_at more than a day back",
    upsert({ issued_at: "2026-02-28T08:59:59Z" }),
    "invalid_field",
    "/issued_at",
    "more than a day before",
  ],
  [
    "an effective_at ahead of issued_at",
    revoke({ effective_at: "2026-03-01T09:01:01Z" }),
    "invalid_field",
    "/effective_at",
    "after issued_at",
  ],
  [
    "another reason_code",
    revoke({ reason_code: "bored" }),
    "invalid_field",
    "/reason_code",
    "must be one of",
  ],
  [
    "a revoke of another subject",
    revoke({ subject: "did:web:bob.example" }),
    "invalid_field",
    "/subject",
    "differs",
  ],
  [
    "an upsert of another subject",
    upsert({ relationship_id: "r1", subject: "did:web:bob.example" }),
    "invalid_field",
    "/subject",
    "differs",
  ],
  [
    "a private event",
    upsert({ visibility: "private" }),
    "private_event_in_public_feed",
    "/visibility",
    "public_only",
  ],
  [
    "another visibility",
    wrong({ ...upsert(), visibility: "secret" }),
    "invalid_field",
    "/visibility",
    "must be one of",
  ],
  [
    "a long identifier",
    upsert({ event_id: "x".repeat(513) }),
    "invalid_field",
    "/event_id",
    "over the limit of 512",
  ],
  [
    "many roles",
    upsert({ roles: Array.from({ length: 65 }, (_, n) => `r${n}`) }),
    "invalid_field",
    "/roles",
    "limit of 64",
  ],
  [
    "a long role",
    upsert({ roles: ["x".repeat(129)] }),
    "invalid_field",
    "/roles",
    "limit of 128",
  ],
  [
    "a long reason",
    upsert({ reason: "x".repeat(2001) }),
    "invalid_field",
    "/reason",
    "limit of 2000",
  ],
  [
    "much metadata",
    upsert({ metadata: { a: "x".repeat(16_400) } }),
    "invalid_field",
    "/metadata",
    "limit of 16384",
  ],
  [
    "metadata that is no object",
    wrong({ ...upsert(), metadata: [1] }),
    "invalid_field",
    "/metadata",
    "must be an object",
  ],
  [
    "deep metadata",
    upsert({
      metadata: JSON.parse(`{"a":${"[".repeat(20)}${"]".repeat(20)}}`),
    }),
    "invalid_field",
    "/metadata",
    "",
  ],
  [
    "an integer that others read differently",
    upsert({ metadata: { n: 2 ** 60 } }),
    "invalid_field",
    "/metadata/n",
    "2^53-1",
  ],
  [
    "a display of another type",
    wrong({ ...upsert(), display: { title: 1 } }),
    "invalid_field",
    "/display/title",
    "must be a string",
  ],
  [
    "a line over 64 KiB",
    upsert({ display: { label: "x".repeat(50_000) } }),
    "line_too_long",
    "",
    "at most 65536",
  ],
];

for (const [what, draft, code, pointer, message] of REFUSED) {
  Deno.test(`refused, and nothing is written: ${what}`, async () => {
    const { issuer, store } = await open();
    const before = store.files.get(FEED);
    const error = await expectSigError(
      issuer.append(wrong(draft)),
      code,
      message,
    );
    if (pointer !== "" && message !== "") {
      assertEquals(error.context.pointer, pointer);
    }
    // As one of several it takes the others with it, and is named.
    const batch = await expectSigError(
      issuer.appendAll([upsert({ event_id: "ok" }), wrong(draft)]),
      code,
      message,
    );
    assertEquals(batch.context.draft, 1);
    assertEquals(store.files.get(FEED), before);
    assertEquals((await issuer.append(upsert({ event_id: "ok" }))).sequence, 4);
  });
}

Deno.test("all faults of a draft are told at once", async () => {
  const { issuer } = await open();
  const error = await expectSigError(
    issuer.append(upsert({ subject: "alice", reason: "x".repeat(2001) })),
    "invalid_field",
    "subject is not a DID",
  );
  assertEquals(error.context.errors?.map(({ pointer }) => pointer), [
    "/subject",
    "/reason",
  ]);
});

Deno.test("allowWarnings lets through what a reader warns about, and no more", async () => {
  const { issuer } = await open({ allowWarnings: true });
  await issuer.append(upsert({ subject: "alice" }));
  await issuer.append(upsert({ issued_at: "2020-01-01T00:00:00Z" }));
  await issuer.append(upsert({ issued_at: "2036-01-01T00:00:00Z" }));
  await issuer.append(revoke({ effective_at: "2026-04-01T00:00:00Z" }));
  await issuer.append(upsert({ reason: "x".repeat(2001) }));
  for (
    const [draft, code, message] of [
      [
        upsert({ visibility: "private" }),
        "private_event_in_public_feed",
        "public_only",
      ],
      [
        upsert({ display: { label: "x".repeat(50_000) } }),
        "line_too_long",
        "at most",
      ],
      [revoke({ relationship_id: "r2" }), "already_revoked", "revoked already"],
      [revoke({ relationship_id: "r9" }), "unknown_relationship", "has no"],
    ] as const
  ) await expectSigError(issuer.append(draft), code, message);
});

Deno.test("a private event is written to a feed that is not public_only", async () => {
  const { issuer } = await open({ publicOnly: false });
  const { event } = await issuer.append(upsert({ visibility: "private" }));
  assertEquals(event.visibility, "private");
});

Deno.test("issued_at may go back a day, no further than from the latest one", async () => {
  const { issuer } = await open();
  await issuer.append(upsert({ issued_at: "2026-02-28T09:00:00Z" }));
  await issuer.append(upsert({ issued_at: "2026-03-01T09:01:00Z" }));
  await expectSigError(
    issuer.append(upsert({ issued_at: "2026-02-28T09:00:00Z" })),
    "invalid_field",
    "more than a day before 2026-03-01T09:01:00Z",
  );
});

Deno.test("the clock may go back an hour", async () => {
  let now = NOW;
  const { issuer } = await open({ now: () => now });
  now = new Date(NOW.getTime() - 3_600_000);
  const { event, sequence } = await issuer.append(upsert());
  assertEquals([sequence, event.issued_at], [4, "2026-03-01T08:00:00Z"]);
});

Deno.test("a feed that readers would refuse for its size is not made longer", async () => {
  const few = await open({ limits: { ...DEFAULT_LIMITS, maxEvents: 3 } });
  await expectSigError(
    few.issuer.append(upsert()),
    "too_many_events",
    "the feed has 3 events (at most 3)",
  );
  const short = await open({
    limits: { ...DEFAULT_LIMITS, maxFeedBytes: 2500 },
  });
  await expectSigError(
    short.issuer.append(upsert()),
    "feed_too_large",
    "more than 2500 bytes",
  );
});

Deno.test("a batch may build on its own events", async () => {
  const { issuer } = await open();
  const results = await issuer.appendAll([
    upsert({ relationship_id: "r5" }),
    revoke({ relationship_id: "r5" }),
    upsert({ relationship_id: "r5", roles: ["x"] }),
  ]);
  assertEquals(results.map(({ sequence }) => sequence), [4, 5, 6]);
  assertEquals(await issuer.appendAll([]), []);
});

Deno.test("appends that are started together are written one after the other", async () => {
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

Deno.test("a draft is read once: what its getters say later does not count", async () => {
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

Deno.test("programmer mistakes are TypeErrors", async () => {
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

vectorTest("timestamps are judged as everywhere", async (folder) => {
  const cases = readVectors<{ value: unknown; expect: string }[]>(
    folder,
    "own/timestamps.json",
  );
  const { issuer, store } = await open();
  for (const { value, expect } of cases) {
    const before = store.files.get(FEED);
    const draft = wrong({ ...upsert(), valid_from: value });
    if (expect === "accept") {
      await issuer.append(draft);
    } else if (value !== null && value !== undefined) {
      await expectSigError(
        issuer.append(draft),
        "invalid_field",
        "/valid_from",
      );
      assertEquals(store.files.get(FEED), before);
    }
  }
});
