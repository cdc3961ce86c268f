import type { ErrorCode } from "@sig/core";
import { assertEquals } from "@std/assert";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { upsert } from "./testdata/support.ts";
import { FEED, open, revoke, wrong } from "./testdata/two_relationships.ts";

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
    "roles that are not an array",
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
    "metadata that is not an object",
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

Deno.test("all faults of a draft are reported at once", async () => {
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
  assertEquals(
    error.context.hint,
    "Write the subject as a DID, such as did:web:alice.example.",
  );
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
