/** The feed of the questions in `vectors/questions.json`. @module */

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

/** Ten events of an organisation in one year. */
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
];
