import { assertEquals } from "@std/assert";
import { FeedRules } from "./feed_rules.ts";
import { DEFAULT_LIMITS } from "../text/limits.ts";
import { parseTimestamp } from "../text/timestamp.ts";
import type { SigEvent, UnknownEvent, WarningCode } from "../event/types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";

const unknown = (sequence: number): UnknownEvent => ({
  ...upsert(sequence),
  event_type: "relationship.suspend",
});

/** The codes of each event's warnings. */
function warningsOf(
  rules: FeedRules,
  ...events: readonly (SigEvent | UnknownEvent)[]
): readonly (readonly WarningCode[])[] {
  return events.map((event) =>
    rules.accept(event).warnings.map(({ code }) => code)
  );
}

Deno.test("sequences start at 1 without gaps, repetitions or decreases", () => {
  const rules = new FeedRules();
  assertSigError(
    () => rules.accept(upsert(2)),
    "sequence_gap",
    "Cannot apply event: sequence jumps from 0 to 2",
  );
  rules.accept(upsert(1));
  rules.accept(upsert(2));
  const gap = assertSigError(
    () => rules.accept(upsert(4)),
    "sequence_gap",
    "Cannot apply event: sequence jumps from 2 to 4",
  );
  assertEquals(gap.context, { sequence: 4, expected: 3 });
  assertSigError(
    () => rules.accept(upsert(2, { event_id: "other" })),
    "sequence_out_of_order",
    "Cannot apply event: sequence 2 occurs twice",
  );
  assertSigError(
    () => rules.accept(upsert(1, { event_id: "other" })),
    "sequence_out_of_order",
    "Cannot apply event: sequence goes back from 2 to 1",
  );
  rules.accept(upsert(3));
  assertEquals(rules.lastSequence, 3);
});

Deno.test("an event_id is unique in the feed, also among ignored events", () => {
  const rules = new FeedRules();
  rules.accept(revoke(1, { event_id: "x", relationship_id: "none" }));
  rules.accept({ ...unknown(2), event_id: "y" });
  for (const event_id of ["x", "y"]) {
    assertSigError(
      () => rules.accept(upsert(3, { event_id })),
      "duplicate_event_id",
      "Cannot apply event: its event_id was used before",
    );
  }
  rules.accept(upsert(3, { event_id: "X" }));
});

Deno.test("every event names the feed's issuer, compared exactly", () => {
  for (const rules of [new FeedRules({ issuer: ISSUER }), new FeedRules()]) {
    rules.accept(upsert(1));
    for (
      const issuer of ["did:web:other.example", `${ISSUER}/`, `${ISSUER}.`]
    ) {
      const error = assertSigError(
        () => rules.accept(upsert(2, { issuer })),
        "issuer_mismatch",
        "Cannot apply event: its issuer is not the feed's",
      );
      assertEquals(error.context.expected, ISSUER);
    }
    assertEquals(rules.issuer, ISSUER);
  }
  const named = new FeedRules({ issuer: "did:web:other.example" });
  assertEquals(
    catchSigError(() => named.accept(upsert(1))).code,
    "issuer_mismatch",
  );
});

Deno.test("checks the issuer, then the sequence, the event_id and the revoke's target", () => {
  const rules = new FeedRules({ unmatchedRevoke: "reject" });
  rules.accept(upsert(1));
  const faults = {
    issuer: "did:web:other.example",
    sequence: 9,
    event_id: "e1",
    relationship_id: "none",
  };
  const codeOf = (changes: Partial<typeof faults>) =>
    catchSigError(() => rules.accept(revoke(2, changes))).code;
  const { issuer: _issuer, ...second } = faults;
  const { sequence: _sequence, ...third } = second;
  const { event_id: _eventId, ...fourth } = third;
  assertEquals(codeOf(faults), "issuer_mismatch");
  assertEquals(codeOf(second), "sequence_gap");
  assertEquals(codeOf(third), "duplicate_event_id");
  assertEquals(codeOf(fourth), "revoke_without_upsert");
});

Deno.test("a rejected event changes nothing", () => {
  const rules = new FeedRules({ unmatchedRevoke: "reject" });
  catchSigError(() => rules.accept(revoke(1)));
  assertEquals([rules.lastSequence, rules.issuer], [0, undefined]);
  assertEquals(warningsOf(rules, upsert(1), revoke(2)), [[], []]);
});

Deno.test("an unmatched revoke is ignored with a warning, or rejected on request", () => {
  const ignoring = new FeedRules();
  const accepted = ignoring.accept(revoke(1));
  assertEquals(accepted.applies, false);
  assertEquals(accepted.warnings, [{
    code: "revoke_without_upsert",
    detail: "the revoke has no earlier upsert, it was ignored",
    sequence: 1,
  }]);
  // It leaves no trace: a later revoke is not a repetition, an upsert not a
  // change.
  assertEquals(
    warningsOf(ignoring, upsert(2, { subject: "did:web:bob.example" })),
    [[]],
  );
  const strict = new FeedRules({ unmatchedRevoke: "reject" });
  assertSigError(
    () => strict.accept(revoke(1)),
    "revoke_without_upsert",
    "Cannot apply event: the revoke has no earlier upsert",
  );
});

Deno.test("an unknown event only uses its sequence", () => {
  const rules = new FeedRules();
  assertEquals(rules.accept(unknown(1)).applies, false);
  assertEquals(warningsOf(rules, revoke(2)), [["revoke_without_upsert"]]);
  assertEquals(warningsOf(rules, unknown(3)), [["unknown_event_ignored"]]);
});

Deno.test("a repeated revoke is a warning, unless a re-activation came between", () => {
  const rules = new FeedRules();
  assertEquals(
    warningsOf(rules, upsert(1), revoke(2), revoke(3), upsert(4), revoke(5)),
    [[], [], ["revoked_again"], [], []],
  );
});

Deno.test("a subject that differs from the relationship's is a warning", () => {
  const bob = { subject: "did:web:bob.example" };
  const rules = new FeedRules();
  assertEquals(
    warningsOf(
      rules,
      upsert(1),
      revoke(2, bob),
      upsert(3),
      upsert(4, bob),
      revoke(5, bob),
      upsert(6, { ...bob, relationship_id: "r2" }),
    ),
    [[], ["subject_changed"], [], ["subject_changed"], [], []],
  );
});

Deno.test("an issued_at more than a day before the latest one is a warning", () => {
  const at = (sequence: number, issued_at: string) =>
    upsert(sequence, { issued_at });
  assertEquals(
    warningsOf(
      new FeedRules(),
      at(1, day(2)),
      at(2, day(1)),
      at(3, "2025-12-31T23:59:59.999999999Z"),
      // It is compared with the latest issued_at, not with the previous one.
      at(4, "2025-12-31T23:59:59.999999999Z"),
    ),
    [[], [], ["issued_at_back"], ["issued_at_back"]],
  );
});

Deno.test("an issued_at more than 60 s ahead of the clock is a warning", () => {
  const now = parseTimestamp(day(1))!;
  const at = (sequence: number, rest: string) =>
    upsert(sequence, { issued_at: day(1, rest) });
  assertEquals(
    warningsOf(
      new FeedRules({ now }),
      at(1, "T00:01:00Z"),
      at(2, "T00:01:00.000000001Z"),
    ),
    [[], ["issued_at_future"]],
  );
  assertEquals(warningsOf(new FeedRules(), at(1, "T00:01:01Z")), [[]]);
});

Deno.test("an effective_at more than 60 s after issued_at is a warning", () => {
  const at = (sequence: number, rest: string) =>
    revoke(sequence, { issued_at: day(3), effective_at: day(3, rest) });
  assertEquals(
    warningsOf(
      new FeedRules(),
      upsert(1),
      at(2, "T00:01:00Z"),
      at(3, "T00:01:00.000000001Z"),
    ),
    [[], [], ["effective_at_future", "revoked_again"]],
  );
});

Deno.test("the number of events is limited", () => {
  const limits = { ...DEFAULT_LIMITS, maxEvents: 2 };
  const rules = new FeedRules({ limits });
  rules.accept(upsert(1));
  rules.accept(upsert(2));
  const error = assertSigError(
    () => rules.accept(upsert(3)),
    "too_many_events",
    "Cannot read feed: it has more than 2 events",
  );
  assertEquals(error.context.limit, 2);
});

Deno.test("after a faulty event the rules continue from the given sequence", () => {
  const rules = new FeedRules();
  rules.accept(upsert(1));
  catchSigError(() => rules.accept(upsert(3)));
  rules.resume(3);
  rules.accept(upsert(4));
  assertEquals(rules.lastSequence, 4);
});
