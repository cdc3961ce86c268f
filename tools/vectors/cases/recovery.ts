/** Statements of a recovery key and void events (docs/protocol.md §14). @module */

import { createHash } from "node:crypto";
import { base64url, concat, type JsonObject, toBytes } from "../bytes.ts";
import { didDocument, ISSUER, jwks, metadata } from "../documents.ts";
import { BOB, issuedOn, revoke, upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { deriveKey, KEY_1, KEY_2, STRANGER, type TestKey } from "../keys.ts";
import { line } from "../lines.ts";

const RECOVERY_1 = deriveKey("recovery-1", "sig-test-recovery-1 (never use)");
const RECOVERY_2 = deriveKey("recovery-2", "sig-test-recovery-2 (never use)");
const MALLORY = "did:web:mallory.example";

function sha256(...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const bytes = concat(...parts.map((part) => toBytes(part)));
  return Uint8Array.from(createHash("sha256").update(bytes).digest());
}

function commitment({ x }: TestKey): string {
  return base64url(sha256(Uint8Array.fromBase64(x, { alphabet: "base64url" })));
}

/** The RFC 6962 root of at most two lines. */
function root(...lines: readonly string[]): string {
  const leaves = lines.map((each) => sha256(Uint8Array.of(0), each));
  const [a, b] = leaves;
  return base64url(
    a === undefined
      ? sha256()
      : b === undefined
      ? a
      : sha256(Uint8Array.of(1), a, b),
  );
}

const GOOD = line(upsert(1));
const END = {
  kid: KEY_1.kid,
  x: KEY_1.x,
  last_sequence: 1,
  reason: "compromised",
};

function statement(
  changes: JsonObject = {},
  { key = RECOVERY_1, header = {} }: {
    readonly key?: TestKey;
    readonly header?: JsonObject;
  } = {},
): string {
  const parts = [
    base64url({ alg: "EdDSA", typ: "sig-recovery+jwt", ...header }),
    base64url({
      iss: ISSUER,
      iat: 1_767_600_000,
      n: 1,
      key: RECOVERY_1.x,
      next: commitment(RECOVERY_2),
      ended: [END],
      keys: { [KEY_2.kid]: KEY_2.x },
      size: 1,
      root: root(GOOD),
      ...changes,
    }),
  ].join(".");
  return `${parts}.${base64url(key.sign(toBytes(parts)))}`;
}

function withStatements(...statements: readonly string[]): JsonObject {
  return metadata({
    recovery: { commitment: commitment(RECOVERY_1), statements },
  });
}

const documents = {
  jwks: jwks(KEY_1, KEY_2),
  did: didDocument([KEY_1, KEY_2]),
};
/** Key 1 under another kid. */
const RENAMED: TestKey = { ...KEY_1, kid: "orgsign-3" };
const renamed = {
  jwks: jwks(KEY_1, KEY_2, RENAMED),
  did: didDocument([KEY_1, KEY_2, RENAMED]),
};
const BY_MALLORY = upsert(2, { relationship_id: "rel-2", subject: MALLORY });
const spec = "docs/protocol.md §14.2";

function bad(name: string, description: string, text: string): FeedCase {
  return invalid(`recovery-${name}`, {
    description,
    spec: "docs/protocol.md §14.1",
  }, {
    ...documents,
    metadata: withStatements(text),
    lines: [GOOD],
  }, { code: "invalid_recovery" });
}

/** Cases about recovery. */
export const recovery: readonly FeedCase[] = [
  valid(
    "recovery-commitment",
    {
      description: "A commitment without statements changes nothing.",
      spec: "docs/protocol.md §14.1",
    },
    { metadata: withStatements(), lines: [GOOD] },
    {
      last_sequence: 1,
      state: [relationship(1)],
    },
  ),
  valid("recovery-void-upsert", {
    description:
      "An upsert after its key's end is not applied; the corrective revoke " +
      "is for readers of v0.1 and warns nobody.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(statement()),
    lines: [
      GOOD,
      line(BY_MALLORY),
      line(
        revoke(3, {
          relationship_id: "rel-2",
          subject: MALLORY,
          reason_code: "error_correction",
          effective_at: issuedOn(2),
        }),
        { key: KEY_2 },
      ),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(1)],
    warnings: ["event_void"],
  }),
  valid("recovery-void-revoke", {
    description:
      "A revoke of the year 9999 after its key's end is not applied and " +
      "gives no warning of its own; the corrective upsert restores the values.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(statement()),
    lines: [
      GOOD,
      line(revoke(2, { issued_at: "9999-01-01T00:00:00Z" })),
      line(upsert(3), { key: KEY_2 }),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(3)],
    warnings: ["event_void"],
  }),
  valid("recovery-all-void", {
    description: "last_sequence 0 makes every event of the key void.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(
      statement({ ended: [{ ...END, last_sequence: 0 }] }),
    ),
    lines: [
      GOOD,
      line(upsert(2, { relationship_id: "rel-2", subject: BOB }), {
        key: KEY_2,
      }),
    ],
  }, {
    last_sequence: 2,
    state: [relationship(2, { relationship_id: "rel-2", subject: BOB })],
    warnings: ["event_void"],
  }),
  valid("recovery-ends-nothing", {
    description: "A statement may end no key.",
    spec: "docs/protocol.md §14.1",
  }, {
    ...documents,
    metadata: withStatements(statement({ ended: [] })),
    lines: [GOOD],
  }, {
    last_sequence: 1,
    state: [relationship(1)],
  }),
  valid("recovery-other-kid", {
    description: "A key that ended has ended under another kid too.",
    spec: "docs/protocol.md §14.1",
  }, {
    ...renamed,
    metadata: withStatements(statement()),
    lines: [GOOD, line(BY_MALLORY, { key: RENAMED })],
  }, {
    last_sequence: 2,
    state: [relationship(1)],
    warnings: ["event_void"],
  }),
  valid("recovery-lowest-last-sequence", {
    description: "Of two kids of one key, the lower last_sequence counts.",
    spec: "docs/protocol.md §14.1",
  }, {
    ...renamed,
    metadata: withStatements(statement({
      ended: [{ ...END, kid: RENAMED.kid }, { ...END, last_sequence: 2 }],
      size: 2,
      root: root(GOOD, line(BY_MALLORY)),
    })),
    lines: [GOOD, line(BY_MALLORY)],
  }, {
    last_sequence: 2,
    state: [relationship(1)],
    warnings: ["event_void"],
  }),
  invalid("recovery-other-x", {
    description: "The key set has another key under a kid that ended.",
    spec: "docs/protocol.md §14.1",
  }, {
    ...documents,
    metadata: withStatements(
      statement({ ended: [{ ...END, x: STRANGER.x }] }),
    ),
    lines: [GOOD],
  }, { code: "recovery_contradicted", kid: KEY_1.kid }),
  invalid("recovery-other-x-of-keys", {
    description: "The key set has another key under a kid of keys.",
    spec: "docs/protocol.md §14.1",
  }, {
    ...documents,
    metadata: withStatements(
      statement({ keys: { [KEY_2.kid]: STRANGER.x } }),
    ),
    lines: [GOOD],
  }, { code: "recovery_contradicted", kid: KEY_2.kid }),
  invalid("recovery-other-events", {
    description: "The events of a statement are compared before later lines.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(
      statement({ root: root(line(upsert(1, { subject: BOB }))) }),
    ),
    lines: [GOOD, "{}"],
  }, { code: "recovery_contradicted", line: 1 }),
  invalid("recovery-fault-before-root", {
    description: "The fault of a line precedes the root that includes it.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(statement()),
    lines: ["{}"],
  }, { code: "invalid_envelope", line: 1 }),
  invalid("recovery-fewer-events", {
    description: "The feed has fewer events than a statement.",
    spec,
  }, {
    ...documents,
    metadata: withStatements(
      statement({ size: 2, root: root(GOOD, line(BY_MALLORY)) }),
    ),
    lines: [GOOD],
  }, { code: "recovery_contradicted" }),
  invalid("recovery-null", {
    description: "The member recovery is not null.",
    spec: "docs/protocol.md §1.2, §14.1",
  }, {
    metadata: metadata({ recovery: null }),
    lines: [GOOD],
  }, { code: "invalid_recovery" }),
  bad(
    "ended-twice",
    "A statement ends each kid once.",
    statement({ ended: [END, { ...END, last_sequence: 0 }] }),
  ),
  bad(
    "next-key-in-keys",
    "The next recovery key can't sign events.",
    statement({ keys: { [KEY_2.kid]: KEY_2.x, next: RECOVERY_2.x } }),
  ),
  bad(
    "signed-by-signing-key",
    "A signing key can't end keys.",
    statement({}, { key: KEY_1 }),
  ),
  bad(
    "last-sequence-after-size",
    "A key can't end after the events that the issuer knew.",
    statement({ ended: [{ ...END, last_sequence: 2 }] }),
  ),
  bad(
    "ended-key-in-keys",
    "A key that ended can't sign from then on.",
    statement({ keys: { [KEY_1.kid]: KEY_1.x } }),
  ),
  bad(
    "key-member",
    "A statement has no other members.",
    statement({ exp: 1_767_700_000 }),
  ),
  bad(
    "kid-in-header",
    "A statement's header is exactly alg and typ.",
    statement({}, { header: { kid: RECOVERY_1.kid } }),
  ),
];
