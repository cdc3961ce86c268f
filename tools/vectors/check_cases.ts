/** Questions and their answers, about the feed `history` (docs/protocol.md §5). @module */

import type { JsonObject } from "./bytes.ts";
import { CAROL, DAVE } from "./cases/history.ts";
import { ALICE, BOB } from "./events.ts";
import { NOW } from "./feed_case.ts";

/** A question and what must come of it. */
export interface CheckCase {
  /** Its name, which no other question and no feed has. */
  readonly name: string;
  /** All the rest. */
  readonly content: JsonObject;
}

interface Question {
  readonly subject: string;
  readonly require: readonly string[];
  readonly at?: string;
  readonly as_of?: string | number;
  readonly now?: string;
}

function question(
  name: string,
  description: string,
  asked: Question,
  expected: JsonObject,
): CheckCase {
  const { subject, require, at = null, as_of = null, now = NOW } = asked;
  return {
    name,
    content: {
      description,
      spec: "docs/protocol.md §5",
      feed: "history",
      question: { subject, require, at, as_of, now },
      expected,
    },
  };
}

/** The answer is yes. */
function allow(
  name: string,
  description: string,
  asked: Question,
  matched_relationship_id: string,
  last_sequence = 10,
  not_after: string | null = null,
): CheckCase {
  return question(name, description, asked, {
    decision: "allow",
    matched_relationship_id,
    last_sequence,
    reasons: [],
    not_after,
  });
}

/** The answer is no. */
function deny(
  name: string,
  description: string,
  asked: Question,
  reasons: readonly JsonObject[],
  last_sequence = 10,
  not_after: string | null = null,
): CheckCase {
  return question(name, description, asked, {
    decision: "deny",
    matched_relationship_id: null,
    last_sequence,
    reasons,
    not_after,
  });
}

/** There is no answer. */
function unanswerable(
  name: string,
  description: string,
  asked: Question,
  error: string,
): CheckCase {
  return question(name, description, asked, { error });
}

function because(code: string, id?: string, sequence?: number): JsonObject {
  return {
    code,
    ...(id === undefined ? {} : { relationship_id: id, sequence }),
  };
}

const requirement = (key: string, value: string) => ({
  requirement: { key, value },
});

const alice = (...require: string[]) => ({ subject: ALICE, require });
const bob = { subject: BOB, require: ["role=deploy"] };
const carol = { subject: CAROL, require: ["relationship=founder"] };

/** Every question. */
export const checkCases: readonly CheckCase[] = [
  allow(
    "highest-sequence",
    "Of two matches the one that the feed spoke of last is named.",
    alice("relationship=employee"),
    "rel-deploy",
  ),
  allow(
    "all-in-one",
    "One relationship meets every requirement.",
    alice("relationship=employee", "role=deploy"),
    "rel-deploy",
  ),
  allow(
    "not-after",
    "An answer may flip when the validity ends.",
    alice("role=read"),
    "rel-employee",
    10,
    "2026-07-01T00:00:00Z",
  ),
  allow(
    "by-id",
    "A relationship named by its identifier.",
    alice("relationship_id=rel-employee"),
    "rel-employee",
    10,
    "2026-07-01T00:00:00Z",
  ),
  deny("revoked", "A revoked relationship.", alice("role=board"), [
    because("revoked", "rel-board", 8),
  ]),
  deny(
    "revoked-before-effective",
    "A revoke counts from the moment it is seen, also before effective_at.",
    { ...alice("role=board"), now: "2026-04-30T23:59:45Z" },
    [because("revoked", "rel-board", 8)],
  ),
  deny(
    "one-requirement-revoked",
    "No relationship meets both; the role's only one is revoked.",
    alice("relationship=employee", "role=board"),
    [{
      ...because("revoked", "rel-board", 8),
      ...requirement("role", "board"),
    }],
  ),
  deny(
    "split",
    "Two relationships together are not one.",
    alice("role=read", "role=deploy"),
    [because("requirements_split")],
  ),
  deny("role-missing", "No relationship has the role.", alice("role=root"), [
    { code: "role_missing", ...requirement("role", "root") },
  ]),
  deny(
    "type-missing",
    "No relationship is of the type.",
    alice("relationship=investor"),
    [{
      code: "relationship_type_missing",
      ...requirement("relationship", "investor"),
    }],
  ),
  deny(
    "id-missing",
    "The relationship is another subject's.",
    alice("relationship_id=rel-bob"),
    [{
      code: "relationship_id_missing",
      ...requirement("relationship_id", "rel-bob"),
    }],
  ),
  deny(
    "two-missing",
    "Each requirement that nothing meets is listed, in order.",
    alice("role=root", "relationship=investor", "role=read"),
    [
      { code: "role_missing", ...requirement("role", "root") },
      {
        code: "relationship_type_missing",
        ...requirement("relationship", "investor"),
      },
    ],
  ),
  deny(
    "no-relationship",
    "A subject that the feed never names.",
    { subject: "did:web:eve.example", require: ["role=deploy"] },
    [because("no_relationship")],
  ),
  deny(
    "subject-exact",
    "Subjects are compared as strings.",
    { subject: "did:web:ALICE.example", require: ["role=deploy"] },
    [because("no_relationship")],
  ),
  deny(
    "not-yet-valid",
    "A relationship that has not begun; the answer may flip when it does.",
    { subject: DAVE, require: ["relationship=employee"] },
    [because("not_yet_valid", "rel-dave", 9)],
    10,
    "2027-01-01T00:00:00Z",
  ),
  allow(
    "begun",
    "Validity includes its first instant.",
    {
      subject: DAVE,
      require: ["relationship=employee"],
      now: "2027-01-01T00:00:00Z",
    },
    "rel-dave",
  ),
  deny(
    "expired",
    "And excludes its last.",
    { ...alice("role=read"), now: "2026-07-01T00:00:00Z" },
    [because("expired", "rel-employee", 5)],
  ),
  allow(
    "at-last-nanosecond",
    "One nanosecond earlier it holds.",
    { ...alice("role=read"), at: "2026-06-30T23:59:59.999999999Z" },
    "rel-employee",
  ),
  deny(
    "at-end",
    "At the instant itself it does not.",
    { ...alice("role=read"), at: "2026-07-01T00:00:00.000000000Z" },
    [because("expired", "rel-employee", 5)],
  ),
  allow(
    "at-before-change",
    "What was true then: the version before the change.",
    {
      ...alice("role=deploy", "relationship_id=rel-employee"),
      at: "2026-02-28T23:59:59Z",
    },
    "rel-employee",
  ),
  deny(
    "at-change",
    "From its issued_at on the new version is in force.",
    {
      ...alice("role=deploy", "relationship_id=rel-employee"),
      at: "2026-03-01T00:00:00Z",
    },
    [{
      ...because("not_yet_valid", "rel-deploy", 10),
      ...requirement("role", "deploy"),
    }],
  ),
  allow(
    "at-before-late-revoke",
    "A revoke that was recorded late does not reach behind its effective_at.",
    { ...bob, at: "2026-02-14T23:59:59.999999999Z" },
    "rel-bob",
  ),
  deny(
    "at-late-revoke",
    "From its effective_at on the version before it has ended.",
    { ...bob, at: "2026-02-15T00:00:00Z" },
    [because("revoked", "rel-bob", 4)],
  ),
  deny(
    "at-after-revoke",
    "While the revoke is the last word.",
    { ...bob, at: "2026-03-15T00:00:00Z" },
    [because("revoked", "rel-bob", 4)],
  ),
  allow(
    "at-return",
    "Until the relationship begins anew.",
    { ...bob, at: "2026-04-01T00:00:00Z" },
    "rel-bob",
  ),
  deny(
    "at-issued-not-begun",
    "Issued, but not begun.",
    { ...bob, at: "2026-01-20T00:00:00Z" },
    [because("not_yet_valid", "rel-bob", 3)],
  ),
  allow(
    "at-before-announced-revoke",
    "A revoke ends the version before it from issued_at on, where that is " +
      "earlier than effective_at: before both, it held.",
    { ...alice("role=board"), at: "2026-04-30T23:59:29.999999999Z" },
    "rel-board",
  ),
  deny(
    "at-announced-revoke",
    "Not from effective_at on.",
    { ...alice("role=board"), at: "2026-04-30T23:59:30Z" },
    [because("revoked", "rel-board", 8)],
  ),
  allow(
    "at-recorded-later",
    "Before the first event, a start that was recorded later counts.",
    { ...carol, at: "2025-01-01T00:00:00Z" },
    "rel-carol",
  ),
  deny(
    "at-before-start",
    "But not before that start.",
    { ...carol, at: "2024-12-31T23:59:59.999999999Z" },
    [because("not_yet_valid", "rel-carol", 7)],
  ),
  allow(
    "as-of-sequence",
    "What was known then: the first two events, at the second's issued_at.",
    { ...alice("role=deploy"), as_of: 2 },
    "rel-employee",
    2,
  ),
  allow(
    "as-of-digits",
    "An as_of of digits is a sequence.",
    { ...alice("role=board"), as_of: "7" },
    "rel-board",
    7,
  ),
  deny(
    "as-of-instant",
    "The longest prefix that was issued by then, judged at that instant.",
    { ...bob, as_of: "2026-03-15T00:00:00Z" },
    [because("revoked", "rel-bob", 4)],
    5,
  ),
  deny(
    "as-of-before-feed",
    "Before the first event nothing was known.",
    { ...alice("role=deploy"), as_of: "2025-12-31T23:59:59Z" },
    [because("no_relationship")],
    0,
  ),
  allow(
    "as-of-and-at",
    "Known before the late revoke: by that the contract still held.",
    { ...bob, as_of: 3, at: "2026-02-16T00:00:00Z" },
    "rel-bob",
    3,
  ),
  unanswerable(
    "as-of-beyond",
    "A sequence that the feed has not reached.",
    { ...alice("role=deploy"), as_of: 11 },
    "consistency_unavailable",
  ),
  unanswerable(
    "no-requirement",
    "No requirement would be met by everything.",
    alice(),
    "requirements_empty",
  ),
  unanswerable(
    "requirement-unknown",
    "A requirement of an unknown kind.",
    alice("title=boss"),
    "invalid_requirement",
  ),
  unanswerable(
    "requirement-type-unknown",
    "A type that no relationship can have is a mistake, not a deny.",
    alice("relationship=boss"),
    "invalid_requirement",
  ),
  unanswerable(
    "subject-empty",
    "A question names a subject.",
    { subject: "", require: ["role=deploy"] },
    "invalid_identifier",
  ),
  unanswerable(
    "at-malformed",
    "A time with an offset.",
    { ...alice("role=deploy"), at: "2026-06-01T00:00:00+02:00" },
    "invalid_request",
  ),
];
