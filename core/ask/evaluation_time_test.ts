import { assertEquals } from "@std/assert";
import { type AskedTime, parseTime, resolveTime } from "./evaluation_time.ts";
import type { EvaluationTime } from "../replay/effective_state.ts";
import { Replay, replay } from "../replay/replay.ts";
import { parseTimestamp } from "../text/timestamp.ts";
import { assertSigError, catchSigError } from "../../tests/kit/sig_errors.ts";
import { day, upsert } from "../../tests/kit/events.ts";

const { state } = replay([upsert(1), upsert(2), upsert(3)]);
const now = new Date("2026-06-01T00:00:00.250Z");
const instant = (text: string) => parseTimestamp(text)!;
const resolve = (time: AskedTime) => resolveTime(state, parseTime(time), now);

const AS_OF = day(2, "T12:00:00.000000001Z");
const TIMES: readonly (readonly [string, AskedTime, EvaluationTime])[] = [
  ["without at and as_of, evaluates now with the whole feed", {}, {
    instant: instant("2026-06-01T00:00:00.25Z"),
    tense: "now",
    events: 3,
  }],
  ["at evaluates what was true then, with the whole feed", { at: day(2) }, {
    instant: instant(day(2)),
    tense: "then",
    events: 3,
  }],
  ...[2, "2", "002"].map((asOf) =>
    [
      `as_of the sequence ${
        JSON.stringify(asOf)
      } evaluates at that event's issued_at`,
      { asOf },
      { instant: instant(day(2)), tense: "now", events: 2 },
    ] as const
  ),
  [
    "as_of an instant evaluates the prefix known then, at that instant",
    { asOf: AS_OF },
    {
      instant: instant(AS_OF),
      tense: "now",
      events: 2,
    },
  ],
  ["at with as_of evaluates what was true then, by what was known then", {
    at: day(1),
    asOf: 2,
  }, { instant: instant(day(1)), tense: "then", events: 2 }],
];

for (const [name, time, expected] of TIMES) {
  Deno.test(name, () => assertEquals(resolve(time), expected));
}

Deno.test("as_of before the first event covers no event", () =>
  assertEquals(resolve({ asOf: "2025-01-01T00:00:00Z" }).events, 0));

Deno.test("rejects a sequence beyond the feed", () => {
  for (const asOf of [4, "4", 2 ** 53 - 1]) {
    const error = assertSigError(
      () => resolve({ asOf }),
      "consistency_unavailable",
      `Cannot judge as of sequence ${asOf}: the feed ends at 3`,
    );
    assertEquals(error.context.last_sequence, 3);
  }
  for (const asOf of ["9007199254740992", "9".repeat(20), "9".repeat(400)]) {
    assertSigError(
      () => resolve({ asOf }),
      "consistency_unavailable",
      "Cannot judge as of sequence 9007199254740991: the feed ends at 3",
    );
  }
  const empty = replay([]).state;
  assertEquals(
    catchSigError(() => resolveTime(empty, parseTime({ asOf: 1 }), now)).code,
    "consistency_unavailable",
  );
});

Deno.test("rejects anything but a sequence or a timestamp", () => {
  for (const asOf of [0, "0", -1, 1.5, NaN, 2 ** 53]) {
    assertSigError(
      () => resolve({ asOf }),
      "invalid_request",
      "Cannot use as_of: a sequence must be an integer from 1 to 2^53-1",
    );
  }
  for (
    const asOf of [
      ...["", "+1", "1.0", "-1", "7 ", "٧", "1e3", "yesterday", "2026-01-01"],
    ]
  ) {
    assertSigError(
      () => resolve({ asOf }),
      "invalid_request",
      `Cannot use as_of "${asOf}": it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z`,
    );
  }
  const error = assertSigError(
    () => resolve({ at: "1" }),
    "invalid_request",
    'Cannot use at "1": it must be an RFC 3339 UTC timestamp such as 2026-01-31T09:00:00Z',
  );
  assertEquals(error.context.pointer, "/at");
});

Deno.test("a state keeps its end when more events are replayed", () => {
  const run = new Replay();
  run.apply(upsert(1));
  const early = run.state();
  run.apply(upsert(2));
  assertEquals(
    resolveTime(early, parseTime({ asOf: day(9) }), now).events,
    1,
  );
});
