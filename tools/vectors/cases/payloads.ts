/**
 * Payloads and their fields (docs/protocol.md §2, §3), with valid signatures.
 * @module
 */

import { concat, type JsonObject, without } from "../bytes.ts";
import { revoke, upsert } from "../events.ts";
import { type FeedCase, invalid } from "../feed_case.ts";
import { line } from "../lines.ts";

const first = line(upsert(1));

function bad(
  name: string,
  code: string,
  description: string,
  payload: JsonObject | string | Uint8Array,
): FeedCase {
  return invalid(name, { description, spec: "docs/protocol.md §2" }, {
    lines: [first, line(payload)],
  }, { code, line: 2 });
}

const envelope = (name: string, what: string, payload: string | Uint8Array) =>
  bad(`payload-${name}`, "invalid_envelope", what, payload);

/** Returns a case whose second line has a JSON text as its sequence. */
function sequence(name: string, what: string, text: string): FeedCase {
  const payload = JSON.stringify(upsert(2, { sequence: "SEQUENCE" }))
    .replace('"SEQUENCE"', text);
  return bad(`sequence-${name}`, "invalid_field", what, payload);
}

function field(name: string, what: string, event: JsonObject): FeedCase {
  return invalid(`field-${name}`, {
    description: what,
    spec: "docs/protocol.md §3",
  }, {
    lines: [first, line(event)],
  }, { code: "invalid_field", line: 2 });
}

function coded(
  name: string,
  code: string,
  description: string,
  event: JsonObject,
): FeedCase {
  return invalid(name, { description, spec: "docs/protocol.md §3" }, {
    lines: [first, line(event)],
  }, { code, line: 2 });
}

const REQUIRED = [
  ...["spec_version", "event_id", "event_type", "issuer", "issued_at"],
  ...["sequence", "relationship_id", "subject", "visibility"],
];
const UPSERT_REQUIRED = [
  ...["relationship_type", "status", "roles", "valid_from", "valid_until"],
];
const REVOKE_REQUIRED = [
  ...["revokes_relationship_id", "reason_code", "effective_at"],
];

function missing(name: string, event: JsonObject): FeedCase {
  return invalid(
    `missing-${name}`,
    {
      description: `An event without ${name}.`,
      spec: "docs/protocol.md §3",
    },
    { lines: [first, line(without(event, name))] },
    {
      code: "missing_field",
      line: 2,
    },
  );
}

const text = JSON.stringify(upsert(2));

/** Cases about payloads. */
export const payloads: readonly FeedCase[] = [
  envelope("empty", "A payload of no bytes.", ""),
  envelope("not-json", "A payload that is not JSON.", "relationship"),
  envelope("array", "A payload that is no object.", `[${text}]`),
  envelope("two-objects", "Text after the object.", `${text}{}`),
  envelope("bom", "A byte order mark.", `\ufeff${text}`),
  envelope(
    "bad-utf-8",
    "A byte that is not UTF-8.",
    concat('{"reason":"', Uint8Array.of(0xff), `",${text.slice(1)}`),
  ),
  envelope(
    "lone-surrogate",
    "An escaped half of a character.",
    `{"reason":"\\ud800",${text.slice(1)}`,
  ),
  envelope(
    "depth-17",
    "Seventeen levels of nesting.",
    `{"x":${"[".repeat(16)}${"]".repeat(16)},${text.slice(1)}`,
  ),
  bad(
    "payload-duplicate-member",
    "duplicate_json_member",
    "Two subjects.",
    `{"subject":"did:web:mallory.example",${text.slice(1)}`,
  ),
  bad(
    "payload-duplicate-member-escaped",
    "duplicate_json_member",
    "The same name, spelled with an escape.",
    `{"\\u0073ubject":"did:web:mallory.example",${text.slice(1)}`,
  ),
  bad(
    "payload-duplicate-member-nested",
    "duplicate_json_member",
    "At any depth, also where nothing is read.",
    `{"metadata":{"list":[{"a":1,"a":1}]},${text.slice(1)}`,
  ),
  bad(
    "payload-number-overflow",
    "invalid_field",
    "A number that no double can hold, in metadata.",
    `{"metadata":{"n":1e999},${text.slice(1)}`,
  ),
  bad(
    "payload-integer-unsafe",
    "invalid_field",
    "An integer that readers would round, in metadata.",
    `{"metadata":{"n":9007199254740993},${text.slice(1)}`,
  ),

  sequence("point", "1.0 is not an integer literal.", "2.0"),
  sequence("exponent", "Neither is 2e0.", "2e0"),
  sequence("string", "A sequence is a number.", '"2"'),
  sequence("null", "Null is a wrong value.", "null"),
  sequence("zero", "Sequences start at 1.", "0"),
  sequence("negative", "And have no sign.", "-2"),
  sequence("unsafe", "2^53 is too large.", "9007199254740992"),

  ...REQUIRED.map((name) => missing(name, upsert(2))),
  ...UPSERT_REQUIRED.map((name) => missing(name, upsert(2))),
  ...REVOKE_REQUIRED.map((name) => missing(name, revoke(2))),

  field(
    "event-id-empty",
    "Identifiers are not empty.",
    upsert(2, {
      event_id: "",
    }),
  ),
  field("relationship-id-control", "Nor have they control characters.", {
    ...upsert(2),
    relationship_id: "rel-1\u001b[2K",
  }),
  field("subject-null", "Null in a required member is a wrong value.", {
    ...upsert(2),
    subject: null,
  }),
  field("visibility", "public or private, nothing else.", {
    ...upsert(2),
    visibility: "secret",
  }),
  field("relationship-type", "Only the seven types.", {
    ...upsert(2),
    relationship_type: "boss",
  }),
  field("reason-code", "Only the seven reason codes.", {
    ...revoke(2),
    reason_code: "fired",
  }),
  field("roles-string", "roles is an array.", upsert(2, { roles: "deploy" })),
  field("roles-number", "Of strings.", upsert(2, { roles: ["deploy", 1] })),
  field("valid-from-number", "A timestamp is a string, or null here.", {
    ...upsert(2),
    valid_from: 1767258000,
  }),
  field("issued-at-null", "Only valid_from and valid_until may be null.", {
    ...upsert(2),
    issued_at: null,
  }),
  field("effective-at-date", "A date is no timestamp.", {
    ...revoke(2),
    effective_at: "2026-01-02",
  }),
  field("display-title", "The three members of display are strings.", {
    ...upsert(2),
    display: { title: 1 },
  }),
  field("reason", "reason is a string.", revoke(2, { reason: ["left"] })),
  field("metadata", "metadata is an object.", upsert(2, { metadata: [] })),

  coded(
    "spec-version-other",
    "unsupported_spec_version",
    "Under another version nothing else is known.",
    upsert(2, { spec_version: "sig/0.2" }),
  ),
  coded(
    "status-not-active",
    "status_not_active",
    "An upsert's status is active in v0.1.",
    upsert(2, { status: "revoked" }),
  ),
  coded(
    "revoke-target-mismatch",
    "revoke_target_mismatch",
    "The two identifiers of a revoke are equal.",
    revoke(2, { revokes_relationship_id: "rel-2" }),
  ),
  coded(
    "private-event-in-public-feed",
    "private_event_in_public_feed",
    "A private event in a feed that is public_only.",
    upsert(2, { visibility: "private" }),
  ),
];
