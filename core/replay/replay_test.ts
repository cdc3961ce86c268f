import { FeedRules } from "./feed_rules.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { check } from "../ask/check.ts";
import { dumpState } from "../ask/dump_state.ts";
import { applyEvent, type FeedState, Replay, replay } from "./replay.ts";
import type { FeedHistory } from "./history.ts";
import type { RelationshipState } from "../event/types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";
import { type Warning, warningsAbout } from "../mod.ts";

const ACTIVE: RelationshipState = {
  issuer: ISSUER,
  relationship_id: "r1",
  subject: ALICE,
  relationship_type: "employee",
  roles: ["deploy"],
  valid_from: null,
  valid_until: null,
  status: "active",
  last_sequence: 1,
};

const EMPTY: FeedState = replay([], { issuer: ISSUER }).state;

function r1(state: FeedState): RelationshipState | undefined {
  return state.by_relationship_id.get("r1");
}

Deno.test("none → revoke: an error for a single event, decided by an option for a feed", () => {
  assertSigError(
    () => applyEvent(EMPTY, revoke(1)),
    "revoke_without_upsert",
    "Cannot apply event: the revoke has no earlier upsert",
  );
  assertSigError(
    () => replay([revoke(1)], { unmatchedRevoke: "reject" }),
    "revoke_without_upsert",
    "Cannot apply event: the revoke has no earlier upsert",
  );
  const { state, warnings } = replay([revoke(1), upsert(2)]);
  assertEquals(r1(state), { ...ACTIVE, last_sequence: 2 });
  assertEquals(state.last_sequence, 2);
  assertEquals(warnings.map(({ code }) => code), ["revoke_without_upsert"]);
  const only = replay([revoke(1)]).state;
  assertEquals([only.last_sequence, only.by_relationship_id.size], [1, 0]);
});

Deno.test("applying one event does not change the earlier state", () => {
  const before = replay([upsert(1)]).state;
  const after = applyEvent(before, revoke(2));
  applyEvent(before, upsert(2, { relationship_id: "r2" }));
  assertEquals(r1(before), ACTIVE);
  assertEquals(before.by_relationship_id.size, 1);
  assertEquals(before.history.versions.get("r1")?.length, 1);
  assertEquals(before.history.relationshipsOf(ALICE).size, 1);
  assertEquals(r1(after)?.status, "revoked");
});

Deno.test("applying one event keeps the feed's order and issuer", () => {
  const { state } = replay([upsert(1)]);
  assertSigError(
    () => applyEvent(state, upsert(3)),
    "sequence_gap",
    "Cannot apply event: sequence jumps from 1 to 3",
  );
  assertSigError(
    () => applyEvent(state, upsert(2, { issuer: "did:web:x.example" })),
    "issuer_mismatch",
    "Cannot apply event: its issuer is not the feed's",
  );
});

Deno.test("applying an event to a state that was not replayed throws a TypeError", () => {
  const { history } = EMPTY;
  const fake = { ...EMPTY, history: { ...history } as FeedHistory };
  assertThrows(
    () => applyEvent(fake, upsert(1)),
    TypeError,
    "Cannot apply event: the state must come from replay",
  );
});

Deno.test("a warning contains the line of its event", () => {
  const run = new Replay();
  run.apply(upsert(1, { subject: "alice" }), 7);
  assertEquals(run.warnings, [{
    code: "subject_not_did",
    detail: "subject is not a DID",
    sequence: 1,
    line: 7,
  }]);
  assertEquals(run.lastSequence, 1);
});

Deno.test("a replay continues after a rejected event", () => {
  const run = new Replay();
  run.apply(upsert(1));
  catchSigError(() => run.apply(upsert(5)));
  run.apply(revoke(2));
  assertEquals(r1(run.state())?.status, "revoked");
});

Deno.test("a state does not change while its replay continues", () => {
  const run = new Replay({ issuer: ISSUER });
  run.apply(upsert(1));
  const early = run.state();
  const read = run.state();
  assertEquals(r1(read)?.status, "active");
  run.apply(revoke(2));
  run.apply(upsert(3, { relationship_id: "r2" }));
  for (const state of [early, read]) {
    assertEquals([...state.by_relationship_id], [["r1", ACTIVE]]);
    assertEquals(state.last_sequence, 1);
    const question = { subject: ALICE, require: ["role=deploy"] } as const;
    const now = new Date("2026-06-01T00:00:00Z");
    const answer = check(state, { ...question, now });
    assertEquals(answer.matched_relationship_id, "r1");
    assertEquals(answer.last_sequence, 1);
    const dump = dumpState(state, { now });
    assertEquals([...dump.by_relationship_id], [["r1", ACTIVE]]);
    const next = applyEvent(state, upsert(2, { relationship_id: "r3" }));
    assertEquals([...next.by_relationship_id.keys()], ["r1", "r3"]);
    assertEquals(r1(next), ACTIVE);
  }
  assertEquals(r1(run.state())?.status, "revoked");
});

Deno.test("the clock may advance during a replay", () => {
  let seconds = 0;
  const run = new Replay({
    get now() {
      return { seconds, nanoseconds: 0 };
    },
  });
  run.apply(upsert(1, { issued_at: "1970-01-01T01:00:00Z" }));
  seconds = 3600;
  run.apply(upsert(2, { issued_at: "1970-01-01T01:00:00Z" }));
  assertEquals(
    run.warnings.map(({ code, sequence }) => [code, sequence]),
    [["issued_at_future", 1]],
  );
});

Deno.test("an effective_at more than 60 s after issued_at is a warning", () => {
  const at = (sequence: number, rest: string) =>
    revoke(sequence, { issued_at: day(3), effective_at: day(3, rest) });
  const { warnings } = replay([
    upsert(1),
    at(2, "T00:01:00Z"),
    at(3, "T00:01:00.000000001Z"),
  ]);
  assertEquals(
    warnings.map(({ code, sequence }) => [code, sequence]),
    [["effective_at_future", 3], ["revoked_again", 3]],
  );
});

Deno.test("an unknown event only uses its sequence", () => {
  const rules = new FeedRules();
  const unknown = { ...upsert(1), event_type: "relationship.suspend" };
  assertEquals(rules.accept(unknown).applies, false);
  assertEquals(
    rules.accept(revoke(2)).warnings.map(({ code }) => code),
    ["revoke_without_upsert"],
  );
});

function oddFeed(events: number, subject: (i: number) => string) {
  return replay(
    Array.from(
      { length: events },
      (_, i) =>
        upsert(i + 1, {
          issued_at: "2026-01-05T09:00:00Z",
          relationship_id: `r${i}`,
          subject: subject(i),
        }),
    ),
  );
}

Deno.test("an answer has the warnings about its subject and the feed", () => {
  const { state, warnings } = oddFeed(50, (i) => i === 7 ? "alice" : "bob");
  const missing: Warning = {
    code: "did_document_missing",
    detail: "there is no did.json",
  };
  const all = [missing, ...warnings];
  assertEquals(all.length, 51);
  assertEquals(warningsAbout("alice", all, state.history), [missing, {
    code: "subject_not_did",
    detail: "subject is not a DID",
    sequence: 8,
  }]);
  assertEquals(warningsAbout("carol", all, state.history), [missing]);
});

Deno.test("an answer has at most 10 warnings, including the number of the rest", () => {
  const { state, warnings } = oddFeed(50, () => "bob");
  const found = warningsAbout("bob", warnings, state.history);
  assertEquals(found.length, 10);
  assertEquals(found.at(-1), {
    code: "warnings_left_out",
    detail: "left out: 41 more about the subject or the feed",
  });
});

Deno.test("warnings that a replay leaves out are counted, also in answers", () => {
  const { state, warnings } = oddFeed(1_100, () => "bob");
  assertEquals(warnings.length, 1_001);
  const rest = {
    code: "warnings_left_out",
    detail: "left out: 100 more about any event",
  };
  assertEquals(warnings.at(-1), rest as Warning);
  const found = warningsAbout("bob", warnings, state.history);
  assertEquals(found.length, 10);
  assertEquals(found.slice(-2), [{
    code: "warnings_left_out",
    detail: "left out: 992 more about the subject or the feed",
  }, rest as Warning]);
});

Deno.test("a relationship that moves to another subject concerns both", () => {
  const { state, warnings } = replay([
    upsert(1, { subject: "did:x:a" }),
    upsert(2, { subject: "did:x:b" }),
  ]);
  for (const subject of ["did:x:a", "did:x:b"]) {
    const [found] = warningsAbout(subject, warnings, state.history);
    assertEquals(found, {
      code: "subject_changed",
      detail: "the subject differs from the relationship's",
      sequence: 2,
    });
  }
  assertEquals(warningsAbout("did:x:c", warnings, state.history), []);
});
