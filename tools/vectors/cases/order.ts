/** The order of events, and which of two errors is reported. @module */

import { ISSUER } from "../documents.ts";
import { issuedOn, revoke, upsert } from "../events.ts";
import { type FeedCase, invalid, type InvalidResult } from "../feed_case.ts";
import { KEY_1, STRANGER } from "../keys.ts";
import { header, line } from "../lines.ts";

const first = line(upsert(1));
const UNKNOWN = header({ kid: "orgsign-9" });

function chain(
  name: string,
  description: string,
  lines: readonly string[],
  result: InvalidResult,
): FeedCase {
  const head = { description, spec: "docs/protocol.md §4" };
  return invalid(name, head, { lines }, result);
}

/**
 * Returns a case with two errors in the second line; `code` is the reported
 * one.
 */
function both(
  name: string,
  description: string,
  second: string,
  code: string,
  kid?: string,
): FeedCase {
  return invalid(`first-fault-${name}`, {
    description,
    spec: "docs/protocol.md §2",
  }, {
    lines: [first, second],
  }, { code, line: 2, ...(kid === undefined ? {} : { kid }) });
}

/** Cases about order. */
export const order: readonly FeedCase[] = [
  chain("sequence-gap", "An event is missing.", [first, line(upsert(3))], {
    code: "sequence_gap",
    line: 2,
    sequence: 3,
  }),
  chain("sequence-starts-at-2", "The first event is 1.", [line(upsert(2))], {
    code: "sequence_gap",
    line: 1,
    sequence: 2,
  }),
  chain(
    "sequence-repeated",
    "Two events of one sequence.",
    [first, line(upsert(1, { event_id: "event-2" }))],
    { code: "sequence_out_of_order", line: 2, sequence: 1 },
  ),
  chain(
    "sequence-back",
    "Two lines have changed places.",
    [first, line(upsert(2)), line(upsert(4)), line(upsert(3))],
    { code: "sequence_gap", line: 3, sequence: 4 },
  ),
  chain(
    "sequence-back-later",
    "An older event follows.",
    [
      first,
      line(upsert(2)),
      line(upsert(3)),
      line(upsert(2, { event_id: "x" })),
    ],
    { code: "sequence_out_of_order", line: 4, sequence: 2 },
  ),
  chain("line-twice", "The same line again.", [first, first], {
    code: "sequence_out_of_order",
    line: 2,
    sequence: 1,
  }),
  chain(
    "event-id-twice",
    "An event_id is unique in the whole feed, across relationships.",
    [
      first,
      line(upsert(2, { relationship_id: "rel-2" })),
      line(revoke(3, { relationship_id: "rel-2", event_id: "event-1" })),
    ],
    { code: "duplicate_event_id", line: 3 },
  ),
  chain(
    "issuer-other",
    "An event of another issuer, signed with this one's key.",
    [first, line(upsert(2, { issuer: "did:web:other.example" }))],
    { code: "issuer_mismatch", line: 2 },
  ),
  chain(
    "issuer-other-case",
    "Issuers are compared as strings.",
    [line(upsert(1, { issuer: "did:web:ACME.example" }))],
    { code: "issuer_mismatch", line: 1 },
  ),
  chain(
    "issuer-with-path",
    "And not by their beginning.",
    [line(upsert(1, { issuer: `${ISSUER}:team` }))],
    { code: "issuer_mismatch", line: 1 },
  ),

  both(
    "members-before-base64url",
    "A surplus member before base64url.",
    JSON.stringify({ protected: "=", payload: "=", signature: "=", x: 1 }),
    "invalid_envelope",
  ),
  both(
    "base64url-before-header",
    "The signature's base64url before the header.",
    line(revoke(2), { header: header({ alg: "none" }) }).replace(
      /"\}$/,
      '="}',
    ),
    "invalid_base64url",
  ),
  both(
    "crit-before-alg",
    "crit before alg.",
    line(revoke(2), { header: header({ alg: "none", crit: ["x"] }) }),
    "crit_not_supported",
  ),
  both(
    "alg-before-typ",
    "alg before typ.",
    line(revoke(2), { header: header({ alg: "none", typ: "JWT" }) }),
    "algorithm_not_allowed",
  ),
  both(
    "typ-before-kid",
    "typ before kid.",
    line(revoke(2), { header: header({ typ: "JWT", kid: "" }) }),
    "typ_mismatch",
  ),
  both(
    "header-before-key",
    "Other members before the key.",
    line(revoke(2), { header: { ...UNKNOWN, jku: "https://x.example" } }),
    "invalid_header",
  ),
  both(
    "key-before-payload",
    "The key before the payload.",
    line("[]", { header: UNKNOWN }),
    "key_not_found",
    "orgsign-9",
  ),
  both(
    "signature-before-payload",
    "The signature before the payload: what nobody has signed is not read.",
    line('{"sequence":1,"sequence":2}', { key: STRANGER }),
    "signature_invalid",
    KEY_1.kid,
  ),
  both(
    "fields-before-issuer",
    "Fields before the issuer.",
    line(upsert(2, { issuer: "did:web:other.example", status: "on" })),
    "status_not_active",
  ),
  invalid("first-fault-issuer-before-sequence", {
    description: "The issuer before the sequence.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [first, line(upsert(9, { issuer: "did:web:other.example" }))],
  }, { code: "issuer_mismatch", line: 2, sequence: 9 }),
  invalid("first-fault-sequence-before-event-id", {
    description: "The sequence before the event_id.",
    spec: "docs/protocol.md §2",
  }, {
    lines: [
      first,
      line(upsert(3, { event_id: "event-1", issued_at: issuedOn(2) })),
    ],
  }, { code: "sequence_gap", line: 2, sequence: 3 }),
  invalid("sequence-claimed-unsigned", {
    description: "The place has the claimed sequence, signed or not.",
    spec: "docs/protocol.md §1, §2.6",
  }, {
    lines: [first, line(upsert(9), { key: STRANGER })],
  }, { code: "signature_invalid", line: 2, sequence: 9, kid: KEY_1.kid }),
  invalid("sequence-claimed-after-header", {
    description: "With a faulty header, the place has the expected sequence.",
    spec: "docs/protocol.md §1, §2.6",
  }, {
    lines: [first, line(upsert(9), { header: header({ typ: "JWT" }) })],
  }, { code: "typ_mismatch", line: 2 }),
];
