import { assertEquals } from "@std/assert";
import { replay } from "./replay.ts";
import { type EffectiveState, effectiveStateAt } from "./effective_state.ts";
import { parseTimestamp } from "../text/timestamp.ts";
import type { SigEvent } from "../event/types.ts";
import { day, revoke, upsert } from "../../tests/kit/events.ts";

function effective(
  events: readonly SigEvent[],
  tense: "now" | "then",
  at: string,
  known = events.length,
): EffectiveState | undefined {
  const { history } = replay(events).state;
  const instant = parseTimestamp(at)!;
  return effectiveStateAt(history, "r1", { instant, tense, events: known });
}

/**
 * Each instant, with the status then and the sequence of the deciding event.
 */
type Timeline = readonly (readonly [string, string, number])[];

function assertTimeline(
  events: readonly SigEvent[],
  tense: "now" | "then",
  timeline: Timeline,
): void {
  for (const [at, status, sequence] of timeline) {
    const found = effective(events, tense, at);
    assertEquals(
      [at, found?.status, found?.state.last_sequence],
      [at, status, sequence],
    );
  }
}

// Events whose days differ from their sequences.
const up = (sequence: number, on: number, changes: object = {}) =>
  upsert(sequence, { issued_at: day(on), ...changes });
const end = (sequence: number, on: number, effective: number) =>
  revoke(sequence, { issued_at: day(on), effective_at: day(effective) });

const NANO_BEFORE = "T23:59:59.999999999Z";

const CASES: readonly (readonly [
  string,
  readonly SigEvent[],
  "now" | "then",
  Timeline,
])[] = [
  [
    "a period of validity may be one nanosecond",
    [
      upsert(1, {
        valid_from: day(10, "T00:00:00.1Z"),
        valid_until: day(10, "T00:00:00.100000001Z"),
      }),
    ],
    "now",
    [
      [day(10, "T00:00:00.099999999Z"), "not_yet_valid", 1],
      [day(10, "T00:00:00.10Z"), "active", 1],
      [day(10, "T00:00:00.100000001Z"), "expired", 1],
    ],
  ],
  [
    "then: a retroactive revoke ends every earlier version",
    [up(1, 5), up(2, 8), end(3, 12, 6)],
    "then",
    [
      [day(5), "active", 1],
      [day(6), "revoked", 3],
      [day(8), "revoked", 3],
    ],
  ],
  [
    "then: a later retroactive revoke also ends versions before a re-activation",
    [up(1, 5), end(2, 10, 10), up(3, 15), end(4, 20, 6)],
    "then",
    [
      [day(5), "active", 1],
      [day(6), "revoked", 4],
      [day(10), "revoked", 2],
      [day(15), "revoked", 4],
      [day(20), "revoked", 4],
    ],
  ],
  [
    "then: only the first upsert can apply before its issued_at",
    [up(1, 10), up(2, 12, { valid_from: day(1) })],
    "then",
    [
      [day(5), "not_yet_valid", 1],
      [day(11), "active", 1],
      [day(12), "active", 2],
    ],
  ],
  [
    "then: a period that ended before it was recorded is expired",
    [up(1, 10, { valid_from: day(2), valid_until: day(4) })],
    "then",
    [
      [day(1), "not_yet_valid", 1],
      [day(3), "active", 1],
      [day(4), "expired", 1],
      [day(10), "expired", 1],
    ],
  ],
  [
    "then: a retroactive revoke also ends a start that was recorded later",
    [up(1, 10, { valid_from: day(2) }), end(2, 11, 5)],
    "then",
    [
      [day(1), "not_yet_valid", 1],
      [day(4), "active", 1],
      [day(5), "revoked", 2],
      [day(10), "revoked", 2],
    ],
  ],
];

for (const [name, events, tense, timeline] of CASES) {
  Deno.test(name, () => assertTimeline(events, tense, timeline));
}

Deno.test("now: revoked precedes expired and not_yet_valid", () => {
  const validity = { valid_from: day(10), valid_until: day(20) };
  assertTimeline([up(1, 1, validity), end(2, 2, 2)], "now", [
    [day(5), "revoked", 2],
    [day(15), "revoked", 2],
    [day(25), "revoked", 2],
  ]);
});

Deno.test("then: events count in sequence order, even if issued_at decreases", () => {
  // The third event was issued before the second, so it is the last from day 10
  // on.
  const events = [up(1, 5), up(2, 20), up(3, 10)];
  assertTimeline(events, "then", [
    [day(5), "active", 1],
    [day(10), "active", 3],
    [day(20), "active", 3],
  ]);
});

Deno.test("then: a re-activation counts from its issued_at, and the gap remains", () => {
  const events = [up(1, 5), end(2, 10, 7), up(3, 15)];
  assertTimeline(events, "then", [
    [day(6), "active", 1],
    [day(7), "revoked", 2],
    [day(14, NANO_BEFORE), "revoked", 2],
    [day(15), "active", 3],
  ]);
  const found = effective(events, "then", day(15))!;
  assertEquals("revoked_reason_code" in found.state, false);
});

Deno.test("then: an ended version shows the reason and instant of the revoke", () => {
  const events = [
    up(1, 5),
    revoke(2, {
      issued_at: day(10),
      effective_at: day(7),
      reason_code: "admin_action",
    }),
  ];
  const { state, known } = effective(events, "then", day(8))!;
  assertEquals(
    [
      state.status,
      state.revoked_reason_code,
      state.revoked_effective_at,
      known,
    ],
    ["revoked", "admin_action", day(7), true],
  );
});

Deno.test("then: a start that was recorded later counts from valid_from", () => {
  const events = [up(1, 10, { valid_from: day(5), valid_until: day(20) })];
  assertTimeline(events, "then", [
    [day(4, NANO_BEFORE), "not_yet_valid", 1],
    [day(5), "active", 1],
    [day(9), "active", 1],
    [day(20), "expired", 1],
  ]);
  assertEquals(effective(events, "then", day(4))?.known, false);
  assertEquals(effective(events, "then", day(5))?.known, true);
});

Deno.test("events after the requested one are ignored", () => {
  const events = [up(1, 5), end(2, 10, 7)];
  assertEquals(effective(events, "then", day(8), 1)?.status, "active");
  assertEquals(effective(events, "now", day(20), 1)?.status, "active");
  assertEquals(effective(events, "now", day(20), 0), undefined);
  assertEquals(effective(events, "then", day(20), 0), undefined);
});
