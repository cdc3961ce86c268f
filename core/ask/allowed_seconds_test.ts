import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { revoke, upsert } from "../../tests/kit/events.ts";
import { replay } from "../replay/replay.ts";
import type { SigEvent } from "../event/types.ts";
import { formatInstant, instantOf } from "../text/timestamp.ts";
import { allowedSeconds } from "./allowed_seconds.ts";
import { check } from "./check.ts";
import { parseQuestion } from "./question.ts";

// promise: `allowed_signers` allows in each second what `sig check --at`
//   allows.

const ISSUER = "did:web:acme.example";
const ALICE = "did:web:alice.example";
const START = Date.UTC(2026, 0, 1);
const SPAN_SECONDS = 12;

/** Steps of half a second, so that bounds also fall between seconds. */
const moment = fc.nat(2 * SPAN_SECONDS).map((half) =>
  new Date(START + 500 * half).toISOString()
);
const maybe = fc.option(moment);

/**
 * Any history: with backdated events, changed subjects, repeated revokes, and
 * revokes that take effect before the start.
 */
const history = fc.array(
  fc.record({
    isRevoke: fc.boolean(),
    relationship_id: fc.constantFrom("r1", "r2"),
    subject: fc.constantFrom(ALICE, ALICE, "did:web:bob.example"),
    roles: fc.constantFrom(["deploy"], ["deploy"], []),
    issued_at: moment,
    effective_at: moment,
    valid_from: maybe,
    valid_until: maybe,
  }),
  { maxLength: 7 },
);

function eventsOf(
  drafts: typeof history extends fc.Arbitrary<infer T> ? T : never,
) {
  return drafts.map((draft, at): SigEvent => {
    const { isRevoke, effective_at, roles, valid_from, valid_until, ...both } =
      draft;
    return isRevoke
      ? revoke(at + 1, { ...both, effective_at })
      : upsert(at + 1, { ...both, roles, valid_from, valid_until });
  });
}

/**
 * Returns the seconds at which a question is allowed, each checked separately.
 */
function askedOneByOne(isAllowed: (instant: Date) => boolean): number[] {
  const seconds = START / 1000 - 2;
  return Array.from({ length: SPAN_SECONDS + 4 }, (_, at) => seconds + at)
    .filter((second) => isAllowed(new Date(1000 * second)));
}

const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

for (const tense of ["then", "now"] as const) {
  Deno.test(`property: the allowed seconds are those at which check allows (${tense})`, () => {
    fc.assert(
      fc.property(history, fc.nat(7), (drafts, limit) => {
        const { state } = replay(eventsOf(drafts), { issuer: ISSUER });
        const events = Math.min(limit, state.last_sequence);
        const ranges = allowedSeconds(state, parseQuestion(QUESTION), {
          tense,
          events,
        });
        const known = replay(eventsOf(drafts).slice(0, events), {
          issuer: ISSUER,
        }).state;
        const asked = askedOneByOne((now) => {
          const at = formatInstant(instantOf(now));
          const time = tense === "now" ? { now } : { now: new Date(0), at };
          return check(known, { ...QUESTION, ...time }).decision === "allow";
        });
        const found = askedOneByOne((now) =>
          ranges.some(({ first, last }) =>
            first <= now.getTime() / 1000 && now.getTime() / 1000 <= last
          )
        );
        assertEquals(found, asked);
        for (const [i, { first, last }] of ranges.entries()) {
          assertEquals(first <= last, true);
          // Ranges with a smaller gap would be one range.
          const before = ranges[i - 1]?.last ?? -Infinity;
          assertEquals(i === 0 || first > before + 1, true);
        }
      }),
      { numRuns: 3_000 },
    );
  });
}

Deno.test("a range without a bound is infinite", () => {
  const { state } = replay([upsert(1)], { issuer: ISSUER });
  const question = parseQuestion(QUESTION);
  const time = { events: 1 };
  assertEquals(
    allowedSeconds(state, question, { ...time, tense: "then" }),
    [{ first: START / 1000, last: Infinity }],
  );
  assertEquals(
    allowedSeconds(state, question, { ...time, tense: "now" }),
    [{ first: -Infinity, last: Infinity }],
  );
});
