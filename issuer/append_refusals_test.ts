import type { ErrorCode } from "@sig/core";
import { assertEquals } from "@std/assert";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { upsert } from "./testdata/support.ts";
import { FEED, open, revoke, wrong } from "./testdata/two_relationships.ts";

/**
 * The changed members of the draft, and the refusal (default: `invalid_field`).
 */
type Row = readonly [
  members: Record<string, unknown>,
  pointer: string,
  message: string,
  code?: ErrorCode,
];

const x = (count: number) => "x".repeat(count);
const OTHER = "did:web:bob.example";
const [aBitAhead, longAgo] = ["2026-03-01T09:01:00.1Z", "2026-02-28T08:59:59Z"];

const UPSERTS: readonly Row[] = [
  [{ event_type: undefined }, "/event_type", "must be", "missing_field"],
  [
    { event_type: "relationship.delete" },
    "/event_type",
    "must be",
    "unknown_event_type",
  ],
  [{ event_type: 1 }, "/event_type", "must be relationship."],
  [{ role: ["deploy"] }, "/role", 'no member "role"'],
  [{ amend: true }, "/amend", 'no member "amend"'],
  [{ sequence: 4 }, "/sequence", "no member"],
  [{ subject: undefined }, "/subject", "is required", "missing_field"],
  [{ subject: "alice" }, "/subject", "is not a DID"],
  [{ subject: OTHER, relationship_id: "r1" }, "/subject", "differs"],
  [{ reason: "\ud800" }, "/reason", "surrogate"],
  [{ issued_at: aBitAhead }, "/issued_at", "ahead of the clock"],
  [{ issued_at: longAgo }, "/issued_at", "more than a day before"],
  [
    { visibility: "private" },
    "/visibility",
    "public_only",
    "private_event_in_public_feed",
  ],
  [{ metadata: { n: 2 ** 60 } }, "/metadata/n", "2^53-1"],
  [{ display: { label: x(50_000) } }, "", "at most 65536", "line_too_long"],
];

const REVOKES: readonly Row[] = [
  [
    { relationship_id: "r9" },
    "/relationship_id",
    "no relationship",
    "unknown_relationship",
  ],
  [{ relationship_id: 1 }, "/relationship_id", "must name"],
  [
    { relationship_id: undefined },
    "/relationship_id",
    "must name",
    "missing_field",
  ],
  [
    { effective_at: "2026-03-01T09:01:01Z" },
    "/effective_at",
    "after issued_at",
  ],
  [{ subject: OTHER }, "/subject", "differs"],
  [{ amend: 1 }, "/amend", "must be true or false"],
];

const REFUSED = [
  ...UPSERTS.map(([members, ...rest]) =>
    ["an upsert", wrong({ ...upsert(), ...members }), ...rest] as const
  ),
  ...REVOKES.map(([members, ...rest]) =>
    ["a revoke", wrong(revoke(members)), ...rest] as const
  ),
];

for (const [kind, draft, pointer, message, code = "invalid_field"] of REFUSED) {
  const what = `${kind}, ${pointer} ${message} (${code})`;
  Deno.test(`refuses a draft and writes nothing: ${what}`, async () => {
    const { issuer, store } = await open();
    const before = store.files.get(FEED);
    const { context } = await expectSigError(
      issuer.append(draft),
      code,
      message,
    );
    assertEquals(context.pointer ?? "", pointer);
    // In a batch, it is named and the whole batch is refused.
    const batch = await expectSigError(
      issuer.appendAll([upsert({ event_id: "ok" }), draft]),
      code,
      message,
    );
    assertEquals(batch.context.draft, 1);
    assertEquals(store.files.get(FEED), before);
    assertEquals((await issuer.append(upsert({ event_id: "ok" }))).sequence, 4);
  });
}

Deno.test("reports all faults of a draft together", async () => {
  const { issuer } = await open();
  const { context } = await expectSigError(
    issuer.append(upsert({ subject: "alice", reason: x(2001) })),
    "invalid_field",
    "subject is not a DID",
  );
  const { errors, hint } = context;
  assertEquals(errors?.map(({ pointer }) => pointer), ["/subject", "/reason"]);
  const example = "did:web:alice.example";
  assertEquals(hint, `Write the subject as a DID, such as ${example}.`);
});

Deno.test("allowWarnings accepts only what a reader warns about", async () => {
  const { issuer } = await open({ allowWarnings: true });
  await issuer.append(upsert({ subject: "alice" }));
  await issuer.append(upsert({ issued_at: "2020-01-01T00:00:00Z" }));
  await issuer.append(upsert({ issued_at: "2036-01-01T00:00:00Z" }));
  await issuer.append(revoke({ effective_at: "2026-04-01T00:00:00Z" }));
  await issuer.append(upsert({ reason: x(2001) }));
  for (
    const [draft, code, message] of [
      [upsert({ visibility: "private" }), "private_event_in_public_feed", ""],
      [upsert({ display: { label: x(50_000) } }), "line_too_long", "at most"],
      [revoke({ relationship_id: "r2" }), "already_revoked", "revoked already"],
      [revoke({ relationship_id: "r9" }), "unknown_relationship", "has no"],
    ] as const
  ) await expectSigError(issuer.append(draft), code, message);
});
