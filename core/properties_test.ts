import type { AskedRequirements, Question } from "./ask/question.ts";
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import type { CheckResult } from "./ask/answer.ts";
import { check } from "./ask/check.ts";
import { dumpState, stringifyDump } from "./ask/dump_state.ts";
import { isSigError } from "./errors/error.ts";
import { findEventIssues, parseEventPayload } from "./event/event.ts";
import { JsonError, parseJson } from "./text/json.ts";
import { parseFeedLine } from "./event/line.ts";
import { applyEvent, replay } from "./replay/replay.ts";
import type { SigEvent } from "./event/types.ts";
import { day, encode, ISSUER, revoke, upsert } from "../tests/kit/events.ts";

const NUM_RUNS = 500;

/** JSON-like text: pieces of JSON in any order, often invalid. */
const jsonish = fc.string({
  unit: fc.constantFrom(
    ...['{"', '"a"', '"\\u0061"', '"__proto__"', ":", ",", "[", "]", "{", "}"],
    ...["1", "1.0", "-0", "1e999", "9007199254740993", "null", "true", " "],
    ...['"', "\\", "\\ud800", "\\ud83d\\ude00", "\n", "\ufeff", "é"],
  ),
  maxLength: 20,
});

const jsonText = fc.oneof(
  jsonish,
  fc.json({ maxDepth: 5 }),
  fc.json({ maxDepth: 5 }).map((text) =>
    JSON.stringify(JSON.parse(text), null, 1)
  ),
);

Deno.test("property: parseJson and JSON.parse agree on accepted text, which has no duplicate members", () => {
  fc.assert(
    fc.property(jsonText, (text) => {
      let value: unknown;
      try {
        value = parseJson(text);
      } catch (error) {
        assert(error instanceof JsonError);
        return;
      }
      assertEquals(value, JSON.parse(text));
      // The text of a duplicate member would be missing here.
      const members = (json: string) => json.split(":").length;
      const again = JSON.stringify(value);
      if (!/"[^"]*:[^"]*"/.test(text)) {
        assertEquals(members(text), members(again));
      }
    }),
    { numRuns: NUM_RUNS * 4 },
  );
});

Deno.test("property: parseJson rejects well-formed JSON only for one of its own rules", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      try {
        parseJson(text);
      } catch (error) {
        assert(error instanceof JsonError);
        assert(error.fault !== "syntax" && error.fault !== "duplicate");
      }
    }),
    { numRuns: NUM_RUNS },
  );
});

Deno.test("property: readers of hostile bytes throw nothing but a SigError", () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    jsonText.map((text) => encode(text)),
  );
  fc.assert(
    fc.property(bytes, (bytes) => {
      for (const read of [parseFeedLine, parseEventPayload]) {
        try {
          read(bytes);
        } catch (error) {
          assert(isSigError(error), String(error));
        }
      }
    }),
    { numRuns: NUM_RUNS },
  );
});

Deno.test("property: any JSON value gets a list of faults, without an exception", () => {
  const member = fc.constantFrom(
    ...Object.keys({ ...upsert(1), ...revoke(1) }),
  );
  fc.assert(
    fc.property(member, fc.jsonValue(), (name, value) => {
      for (const event of [upsert(1), revoke(1)]) {
        findEventIssues({ ...event, [name]: value });
      }
      findEventIssues(value);
    }),
    { numRuns: NUM_RUNS },
  );
});

const SUBJECTS = ["did:web:a.example", "did:web:b.example", "__proto__"];
const IDS = ["r1", "r2", "constructor"];
const anyDay = fc.integer({ min: 1, max: 28 });
const maybeDay = fc.option(anyDay, { nil: null });

/** An event without its place in a feed. */
const draft = fc.record({
  isRevoke: fc.boolean(),
  relationship_id: fc.constantFrom(...IDS),
  subject: fc.constantFrom(...SUBJECTS),
  on: anyDay,
  from: maybeDay,
  until: maybeDay,
  effective: anyDay,
  roles: fc.subarray(["deploy", "audit"]),
});

/** Valid feeds of events with random content. */
const feed = fc.array(draft, { maxLength: 12 }).map((drafts) =>
  drafts.map((draft, i): SigEvent => {
    const sequence = i + 1;
    const { relationship_id, subject, on, from, until } = draft;
    const base = { relationship_id, subject, issued_at: day(on) };
    if (draft.isRevoke) {
      return revoke(sequence, { ...base, effective_at: day(draft.effective) });
    }
    const isOrdered = from === null || until === null || from < until;
    return upsert(sequence, {
      ...base,
      roles: draft.roles,
      valid_from: from === null ? null : day(from),
      valid_until: until === null || !isOrdered ? null : day(until),
    });
  })
);

const question: fc.Arbitrary<Question> = fc.record({
  subject: fc.constantFrom("", ...SUBJECTS),
  require: fc.array(
    fc.constantFrom(
      ...["role=deploy", "role=audit", "relationship=employee", "x", "role="],
      ...["relationship_id=r1", "relationship=founder"],
    ),
    { maxLength: 3 },
  ).map((texts) => texts as unknown as AskedRequirements),
  at: fc.option(fc.oneof(anyDay.map((n) => day(n)), fc.string()), {
    nil: undefined,
  }),
  asOf: fc.option(
    fc.oneof(fc.integer(), anyDay, anyDay.map((n) => day(n)), fc.string()),
    { nil: undefined },
  ),
  now: anyDay.map((n) => new Date(day(n))),
  explain: fc.boolean(),
});

function tryCheck(
  events: readonly SigEvent[],
  question: Question,
): CheckResult | undefined {
  try {
    return check(replay(events, { issuer: ISSUER }).state, question);
  } catch (error) {
    assert(isSigError(error), String(error));
    return undefined;
  }
}

Deno.test("property: check returns a well-formed answer or throws a SigError", () => {
  fc.assert(
    fc.property(feed, question, (events, question) => {
      const answer = tryCheck(events, question);
      if (answer === undefined) return;
      const allowed = answer.decision === "allow";
      assertEquals(answer.matched_relationship_id !== null, allowed);
      assertEquals(answer.reasons.length === 0, allowed);
      assert(answer.last_sequence <= events.length);
      assertEquals(JSON.parse(JSON.stringify(answer)), answer as unknown);
    }),
    { numRuns: NUM_RUNS * 2 },
  );
});

Deno.test("property: an answer is valid until its not_after, and permanently without one", () => {
  fc.assert(
    fc.property(feed, question, anyDay, (events, question, later) => {
      const answer = tryCheck(events, question);
      const now = new Date(day(later));
      if (answer === undefined || now < question.now) return;
      const end = answer.not_after;
      if (end !== null && now >= new Date(end)) return;
      const again = tryCheck(events, { ...question, now });
      assertEquals(again?.decision, answer.decision);
    }),
    { numRuns: NUM_RUNS * 2 },
  );
});

Deno.test("property: as_of a sequence equals the replay of that prefix", () => {
  fc.assert(
    fc.property(feed, question, fc.nat(), (events, question, n) => {
      if (events.length === 0) return;
      const asOf = 1 + n % events.length;
      const prefix = events.slice(0, asOf);
      const now = new Date(prefix.at(-1)!.issued_at);
      const { at } = question;
      const known = tryCheck(events, { ...question, asOf });
      const replayed = tryCheck(prefix, { ...question, asOf: undefined, now });
      if (known === undefined || replayed === undefined) {
        assertEquals(known, replayed);
        return;
      }
      const { decision, reasons, matched_relationship_id } = replayed;
      assertEquals(known.decision, decision);
      assertEquals(known.reasons, reasons);
      assertEquals(known.matched_relationship_id, matched_relationship_id);
      assertEquals(known.last_sequence, asOf);
      assertEquals(known.explain, replayed.explain);
      assertEquals(known.at, at ?? null);
    }),
    { numRuns: NUM_RUNS },
  );
});

Deno.test("property: a dump as_of a sequence equals the replayed prefix, sorted", () => {
  fc.assert(
    fc.property(feed, (events) => {
      const { state } = replay(events, { issuer: ISSUER });
      const now = new Date(day(1));
      for (let asOf = 1; asOf <= events.length; asOf++) {
        const prefix = replay(events.slice(0, asOf)).state;
        const dump = dumpState(state, { now, asOf });
        const sorted = [...prefix.by_relationship_id.keys()].sort();
        assertEquals([...dump.by_relationship_id.keys()], sorted);
        for (const [id, entry] of dump.by_relationship_id) {
          assertEquals(entry, prefix.by_relationship_id.get(id));
        }
        parseJson(stringifyDump(dump));
      }
    }),
    { numRuns: 100 },
  );
});

Deno.test("property: event by event gives the same state as the whole feed", () => {
  fc.assert(
    fc.property(feed, (events) => {
      const { state } = replay(events, { issuer: ISSUER });
      let stepwise = replay([], { issuer: ISSUER }).state;
      for (const event of events) {
        try {
          stepwise = applyEvent(stepwise, event);
        } catch (error) {
          // A single event is rejected in cases where a feed's event is
          // ignored.
          assert(isSigError(error, "revoke_without_upsert"), String(error));
          return;
        }
      }
      assertEquals(stepwise.by_relationship_id, state.by_relationship_id);
      assertEquals(stepwise.last_sequence, state.last_sequence);
    }),
    { numRuns: NUM_RUNS },
  );
});
