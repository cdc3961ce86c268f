/** The feeds of the questions in `vectors/questions.json`. @module */

import { BOB, revoke, upsert } from "../events.ts";
import { type FeedCase, relationship, valid } from "../feed_case.ts";
import { line } from "../lines.ts";

/** A third subject. */
export const CAROL = "did:web:carol.example";
/** A fourth one. */
export const DAVE = "did:web:dave.example";

const EMPLOYEE = {
  relationship_id: "rel-employee",
  valid_from: "2026-01-01T00:00:00Z",
  valid_until: "2026-07-01T00:00:00Z",
};
const CONTRACTOR = {
  relationship_id: "rel-bob",
  subject: BOB,
  relationship_type: "contractor",
};
const FOUNDER = {
  relationship_id: "rel-carol",
  subject: CAROL,
  relationship_type: "founder",
  roles: [],
  valid_from: "2025-01-01T00:00:00Z",
};
const ADVISOR = { relationship_id: "rel-board", relationship_type: "advisor" };
const FUTURE = {
  relationship_id: "rel-dave",
  subject: DAVE,
  valid_from: "2027-01-01T00:00:00Z",
};

const LATE = { relationship_id: "rel-late", subject: CAROL };
const ENDED = { valid_until: "2026-02-01T00:00:00Z" };

/** Ten events of an organisation in one year, and eight about order. */
export const history: readonly FeedCase[] = [
  valid("history", {
    description:
      "Changes, an end that was recorded late, one that was announced early, " +
      "a return, a start that was recorded later, one still to come.",
    spec: "docs/protocol.md §4, §5",
  }, {
    lines: [
      upsert(1, {
        ...EMPLOYEE,
        issued_at: "2026-01-01T00:00:00Z",
        roles: ["deploy", "read"],
      }),
      upsert(2, {
        ...ADVISOR,
        issued_at: "2026-01-05T00:00:00Z",
        roles: ["board"],
      }),
      upsert(3, {
        ...CONTRACTOR,
        issued_at: "2026-01-10T00:00:00Z",
        valid_from: "2026-02-01T00:00:00Z",
      }),
      revoke(4, {
        relationship_id: "rel-bob",
        subject: BOB,
        issued_at: "2026-02-20T00:00:00Z",
        reason_code: "contract_ended",
        effective_at: "2026-02-15T00:00:00Z",
      }),
      upsert(5, {
        ...EMPLOYEE,
        issued_at: "2026-03-01T00:00:00Z",
        roles: ["read"],
      }),
      upsert(6, {
        ...CONTRACTOR,
        issued_at: "2026-04-01T00:00:00Z",
        valid_from: "2026-04-01T00:00:00Z",
      }),
      upsert(7, { ...FOUNDER, issued_at: "2026-04-02T00:00:00Z" }),
      revoke(8, {
        relationship_id: "rel-board",
        issued_at: "2026-04-30T23:59:30Z",
        reason_code: "permission_revoked",
        effective_at: "2026-05-01T00:00:00Z",
      }),
      upsert(9, { ...FUTURE, issued_at: "2026-05-02T00:00:00Z" }),
      upsert(10, {
        relationship_id: "rel-deploy",
        issued_at: "2026-05-03T00:00:00Z",
      }),
    ].map((event) => line(event)),
  }, {
    last_sequence: 10,
    state: [
      relationship(5, { ...EMPLOYEE, roles: ["read"] }),
      relationship(8, {
        ...ADVISOR,
        roles: ["board"],
        revoked_reason_code: "permission_revoked",
        revoked_effective_at: "2026-05-01T00:00:00Z",
      }),
      relationship(6, { ...CONTRACTOR, valid_from: "2026-04-01T00:00:00Z" }),
      relationship(7, FOUNDER),
      relationship(9, FUTURE),
      relationship(10, { relationship_id: "rel-deploy" }),
    ],
  }),
  valid("history-of-moves", {
    description:
      "A relationship that moves to another subject, and two revokes that " +
      "were recorded late.",
    spec: "docs/protocol.md §4, §5",
  }, {
    lines: [
      upsert(1, { relationship_id: "rel-moved", subject: BOB }),
      upsert(2, { ...ENDED, relationship_id: "rel-ended" }),
      upsert(3, { ...ENDED, relationship_id: "rel-moved" }),
      upsert(4, { ...ENDED, relationship_id: "rel-ended" }),
      upsert(5, LATE),
      revoke(6, {
        ...LATE,
        issued_at: "2026-04-01T00:00:00Z",
        effective_at: "2026-03-01T00:00:00Z",
      }),
      upsert(7, { ...LATE, issued_at: "2026-04-10T00:00:00Z" }),
      revoke(8, {
        ...LATE,
        issued_at: "2026-05-01T00:00:00Z",
        effective_at: "2026-02-01T00:00:00Z",
      }),
    ].map((event) => line(event)),
  }, {
    last_sequence: 8,
    state: [
      relationship(3, { ...ENDED, relationship_id: "rel-moved" }),
      relationship(4, { ...ENDED, relationship_id: "rel-ended" }),
      relationship(8, {
        ...LATE,
        revoked_reason_code: "employment_ended",
        revoked_effective_at: "2026-02-01T00:00:00Z",
      }),
    ],
    warnings: ["subject_changed"],
  }),
];
