/** Every transition of a relationship (docs/protocol.md §4). @module */

import { ALICE, BOB, issuedOn, revoke, upsert } from "../events.ts";
import { type FeedCase, invalid, relationship, valid } from "../feed_case.ts";
import { line } from "../lines.ts";

const TYPES = [
  ...["employee", "founder", "contractor", "advisor", "investor"],
  ...["admin_delegate", "other"],
];

const REASONS = [
  ...["employment_ended", "contract_ended", "permission_revoked", "superseded"],
  ...["admin_action", "error_correction", "other"],
];

const ENDED = {
  revoked_reason_code: "employment_ended",
  revoked_effective_at: issuedOn(2),
};

/** Cases about state. */
export const transitions: readonly FeedCase[] = [
  valid(
    "feed-empty",
    {
      description: "A feed of zero bytes is valid and says nothing.",
      spec: "docs/protocol.md §2",
    },
    { feed: "" },
    { last_sequence: 0 },
  ),

  valid(
    "upsert",
    {
      description: "none → active: the state is made from the event.",
      spec: "docs/protocol.md §4",
    },
    { lines: [line(upsert(1))] },
    {
      last_sequence: 1,
      state: [relationship(1)],
    },
  ),

  valid("upsert-all-members", {
    description:
      "Every optional member is there; none of them is part of the state.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [line(upsert(1, {
      roles: ["deploy", "read"],
      valid_from: "2026-01-01T00:00:00Z",
      valid_until: "2027-01-01T00:00:00Z",
      display: {
        title: "Engineer",
        department: "Platform",
        label: "Alice, on call",
      },
      reason: "joined",
      metadata: { ticket: 4711, nested: { list: [1, "two", null, true] } },
    }))],
  }, {
    last_sequence: 1,
    state: [relationship(1, {
      roles: ["deploy", "read"],
      valid_from: "2026-01-01T00:00:00Z",
      valid_until: "2027-01-01T00:00:00Z",
    })],
  }),

  valid("upsert-every-type", {
    description: "One relationship of each type; roles may be empty.",
    spec: "docs/protocol.md §3",
  }, {
    lines: TYPES.map((relationship_type, i) =>
      line(upsert(i + 1, {
        relationship_id: `rel-${relationship_type}`,
        relationship_type,
        roles: [],
      }))
    ),
  }, {
    last_sequence: TYPES.length,
    state: TYPES.map((relationship_type, i) =>
      relationship(i + 1, {
        relationship_id: `rel-${relationship_type}`,
        relationship_type,
        roles: [],
      })
    ),
  }),

  valid("upsert-replaces", {
    description:
      "active → active: a later upsert replaces everything, also what it " +
      "leaves empty.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(upsert(1, {
        roles: ["deploy", "read"],
        valid_from: "2026-01-01T00:00:00Z",
        valid_until: "2027-01-01T00:00:00Z",
      })),
      line(upsert(2, { relationship_type: "advisor", roles: ["board"] })),
    ],
  }, {
    last_sequence: 2,
    state: [
      relationship(2, { relationship_type: "advisor", roles: ["board"] }),
    ],
  }),

  valid("revoke", {
    description:
      "active → revoked: reason and instant are recorded, the upsert's " +
      "members stay, last_sequence is the revoke's.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(upsert(1, { valid_until: "2027-01-01T00:00:00Z" })),
      line(revoke(2, { reason: "left", metadata: { ticket: 4712 } })),
    ],
  }, {
    last_sequence: 2,
    state: [relationship(2, { valid_until: "2027-01-01T00:00:00Z", ...ENDED })],
  }),

  valid("revoke-every-reason", {
    description: "One revoke with each reason code.",
    spec: "docs/protocol.md §3",
  }, {
    lines: REASONS.flatMap((reason_code, i) => {
      const relationship_id = `rel-${reason_code}`;
      return [
        line(upsert(2 * i + 1, { relationship_id })),
        line(revoke(2 * i + 2, { relationship_id, reason_code })),
      ];
    }),
  }, {
    last_sequence: 2 * REASONS.length,
    state: REASONS.map((reason_code, i) =>
      relationship(2 * i + 2, {
        relationship_id: `rel-${reason_code}`,
        revoked_reason_code: reason_code,
        revoked_effective_at: issuedOn(2 * i + 2),
      })
    ),
  }),

  valid("reactivate", {
    description:
      "revoked → active: an upsert clears the two revocation members.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(upsert(1)),
      line(revoke(2)),
      line(upsert(3, { roles: ["read"] })),
    ],
  }, { last_sequence: 3, state: [relationship(3, { roles: ["read"] })] }),

  valid("revoked-again", {
    description:
      "A revoke of a revoked relationship replaces reason and instant.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(upsert(1)),
      line(revoke(2)),
      line(revoke(3, {
        reason_code: "error_correction",
        effective_at: "2026-01-01T12:00:00Z",
      })),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(3, {
      revoked_reason_code: "error_correction",
      revoked_effective_at: "2026-01-01T12:00:00Z",
    })],
    warnings: ["revoked_again"],
  }),

  valid("relationships-are-separate", {
    description:
      "A revoke ends the relationship that it names, no other one of the " +
      "same subject.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(upsert(1)),
      line(upsert(2, { relationship_id: "rel-2", roles: ["read"] })),
      line(upsert(3, { relationship_id: "rel-3", subject: BOB })),
      line(revoke(4, { relationship_id: "rel-2" })),
    ],
  }, {
    last_sequence: 4,
    state: [
      relationship(1),
      relationship(4, {
        relationship_id: "rel-2",
        roles: ["read"],
        revoked_reason_code: "employment_ended",
        revoked_effective_at: issuedOn(4),
      }),
      relationship(3, { relationship_id: "rel-3", subject: BOB }),
    ],
  }),

  valid(
    "subject-changed-by-revoke",
    {
      description:
        "A revoke with another subject counts; the state keeps the upsert's.",
      spec: "docs/protocol.md §3",
    },
    { lines: [line(upsert(1)), line(revoke(2, { subject: BOB }))] },
    {
      last_sequence: 2,
      state: [relationship(2, { subject: ALICE, ...ENDED })],
      warnings: ["subject_changed"],
    },
  ),

  valid(
    "subject-changed-by-upsert",
    {
      description: "An upsert with another subject replaces it.",
      spec: "docs/protocol.md §3",
    },
    { lines: [line(upsert(1)), line(upsert(2, { subject: BOB }))] },
    {
      last_sequence: 2,
      state: [relationship(2, { subject: BOB })],
      warnings: ["subject_changed"],
    },
  ),

  valid("revoke-without-upsert-ignored", {
    description:
      "By default a revoke with nothing to revoke is ignored; it uses up its " +
      "sequence, and a later upsert begins as usual.",
    spec: "docs/protocol.md §4",
  }, {
    lines: [
      line(revoke(1)),
      line(upsert(2)),
      line(revoke(3, { relationship_id: "rel-2" })),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(2)],
    warnings: ["revoke_without_upsert", "revoke_without_upsert"],
  }),

  invalid("revoke-without-upsert-rejected", {
    description: "On request such a revoke makes the feed invalid.",
    spec: "docs/protocol.md §4",
    options: { unmatched_revoke: "reject" },
  }, {
    lines: [line(upsert(1)), line(revoke(2, { relationship_id: "rel-2" }))],
  }, { code: "revoke_without_upsert", line: 2 }),

  invalid(
    "revoke-without-upsert-keeps-event-id",
    {
      description: "An ignored revoke has used its event_id.",
      spec: "docs/protocol.md §4",
    },
    { lines: [line(revoke(1)), line(upsert(2, { event_id: "event-1" }))] },
    {
      code: "duplicate_event_id",
      line: 2,
    },
  ),

  valid("unknown-event-ignored", {
    description:
      "On request an event of an unknown type is skipped; it uses its sequence.",
    spec: "docs/protocol.md §3",
    options: { unknown_events: "ignore" },
  }, {
    lines: [
      line(upsert(1)),
      line(upsert(2, { event_type: "relationship.suspend", roles: 5 })),
      line(upsert(3, { roles: ["read"] })),
    ],
  }, {
    last_sequence: 3,
    state: [relationship(3, { roles: ["read"] })],
    warnings: ["unknown_event_ignored"],
  }),

  invalid("unknown-event-rejected", {
    description: "By default an unknown event type makes the feed invalid.",
    spec: "docs/protocol.md §3",
  }, {
    lines: [
      line(upsert(1)),
      line(upsert(2, { event_type: "relationship.suspend" })),
    ],
  }, { code: "unknown_event_type", line: 2 }),
];
