import { assert, assertEquals, assertThrows } from "@std/assert";
import { check } from "../ask/check.ts";
import { dumpState } from "../ask/dump_state.ts";
import { applyEvent, type FeedState, Replay, replay } from "./replay.ts";
import type { FeedHistory } from "./history.ts";
import type { RelationshipState, SigEvent } from "../event/types.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, day, ISSUER, revoke, upsert } from "../../tests/kit/events.ts";

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

/** Builds the state in both ways, which must agree. */
function stateAfter(...events: readonly SigEvent[]): FeedState {
  const { state } = replay(events, { issuer: ISSUER });
  const stepwise = events.reduce(applyEvent, EMPTY);
  assertEquals(stepwise.by_relationship_id, state.by_relationship_id);
  assertEquals(stepwise.last_sequence, state.last_sequence);
  assertEquals(stepwise.issuer, state.issuer);
  return state;
}

function r1(state: FeedState): RelationshipState | undefined {
  return state.by_relationship_id.get("r1");
}

Deno.test("none → upsert → active: the event creates the state", () => {
  const display = { title: "CTO" };
  const state = stateAfter(upsert(1, { display, reason: "x", metadata: {} }));
  // Exactly the members of docs/protocol.md §4: no display, reason or metadata.
  assertEquals(r1(state), ACTIVE);
  assertEquals(state.last_sequence, 1);
});

Deno.test("active → upsert → active: the event fully replaces the state", () => {
  const state = stateAfter(
    upsert(1, { roles: ["deploy", "admin"], valid_from: day(1) }),
    upsert(2, {
      subject: "did:web:bob.example",
      relationship_type: "founder",
      roles: [],
      valid_until: day(9),
    }),
  );
  assertEquals(r1(state), {
    ...ACTIVE,
    subject: "did:web:bob.example",
    relationship_type: "founder",
    roles: [],
    valid_until: day(9),
    last_sequence: 2,
  });
});

Deno.test("active → revoke → revoked: reason, instant and sequence are recorded", () => {
  const state = stateAfter(
    upsert(1),
    revoke(2, { reason_code: "admin_action", effective_at: day(1) }),
  );
  assertEquals(r1(state), {
    ...ACTIVE,
    status: "revoked",
    revoked_reason_code: "admin_action",
    revoked_effective_at: day(1),
    last_sequence: 2,
  });
});

Deno.test("revoked → upsert → active: the revocation members are removed", () => {
  const state = stateAfter(upsert(1), revoke(2), upsert(3));
  assertEquals(r1(state), { ...ACTIVE, last_sequence: 3 });
  assert(!("revoked_reason_code" in r1(state)!));
  assert(!("revoked_effective_at" in r1(state)!));
});

Deno.test("revoked → revoke → revoked: reason and instant are replaced, with a warning", () => {
  const events = [
    upsert(1),
    revoke(2),
    revoke(3, { reason_code: "error_correction", effective_at: day(1) }),
  ];
  assertEquals(r1(stateAfter(...events)), {
    ...ACTIVE,
    status: "revoked",
    revoked_reason_code: "error_correction",
    revoked_effective_at: day(1),
    last_sequence: 3,
  });
  assertEquals(replay(events).warnings, [{
    code: "revoked_again",
    detail: "the relationship was revoked already",
    sequence: 3,
  }]);
});

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

Deno.test("a revoke keeps the upsert's subject", () => {
  const state = stateAfter(
    upsert(1),
    revoke(2, { subject: "did:web:bob.example" }),
  );
  assertEquals(r1(state)?.subject, ALICE);
});

Deno.test("relationships are independent, in the order of their first upserts", () => {
  const state = stateAfter(
    upsert(1, { relationship_id: "b" }),
    upsert(2, { relationship_id: "a" }),
    revoke(3, { relationship_id: "b" }),
  );
  assertEquals([...state.by_relationship_id.keys()], ["b", "a"]);
  assertEquals(state.by_relationship_id.get("a")?.status, "active");
  assertEquals(state.by_relationship_id.get("b")?.status, "revoked");
});

Deno.test("identifiers such as __proto__ are ordinary keys", () => {
  const ids = ["__proto__", "constructor", "toString", "hasOwnProperty", "10"];
  const events = ids.map((id, i) => upsert(i + 1, { relationship_id: id }));
  const state = stateAfter(...events);
  assertEquals([...state.by_relationship_id.keys()], ids);
  assertEquals(state.by_relationship_id.get("valueOf"), undefined);
  assertEquals(
    catchSigError(() =>
      replay([revoke(1, { relationship_id: "toString" })], {
        unmatchedRevoke: "reject",
      })
    ).code,
    "revoke_without_upsert",
  );
});

Deno.test("identifiers are compared by code units, without normalization", () => {
  const nfc = "\u00e9";
  const nfd = "e\u0301";
  const state = stateAfter(
    upsert(1, { relationship_id: nfc }),
    upsert(2, { relationship_id: nfd }),
  );
  assertEquals(state.by_relationship_id.size, 2);
});

Deno.test("an empty feed has a state", () => {
  const { state } = replay([]);
  assertEquals(
    [state.issuer, state.last_sequence, state.by_relationship_id.size],
    ["", 0, 0],
  );
  assertEquals(replay([], { issuer: ISSUER }).state.issuer, ISSUER);
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
    const question = { subject: ALICE, require: ["role=deploy"] };
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
