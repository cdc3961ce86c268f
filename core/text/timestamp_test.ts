import { assertEquals, assertThrows } from "@std/assert";
import {
  addSeconds,
  compareInstants,
  formatInstant,
  instantOf,
  parseTimestamp,
  validInstant,
} from "./timestamp.ts";

import fc from "fast-check";

Deno.test("refuses what the vectors do not have", () => {
  const refused = [
    ...["2026-01-32T00:00:00Z", "2026-01-01T00:00:00,5Z"],
    ...["2026-01-01T00:00:00.-1Z", "2026-01-01T00:00:0\u0661Z"],
    ...["2026-01-01T-1:00:00Z", "2026-01-01T00:+1:00Z", "2026/01-01T00:00:00Z"],
    ...["2026-01/01T00:00:00Z", "2026-01-01_00:00:00Z", "2026-01-01T00.00:00Z"],
    ...["2026-01-01T00:00.00Z"],
    ["2026-01-01T00:00:00Z"],
    new Date(0),
  ];
  for (const text of refused) {
    assertEquals(parseTimestamp(text), undefined, String(text));
  }
});

Deno.test("agrees with Date on the seconds, in every year and month", () => {
  for (let year = 1; year <= 9999; year += year < 1960 || year > 2040 ? 7 : 1) {
    for (let month = 1; month <= 12; month++) {
      for (const date of [1, 28, 29, 30, 31]) {
        const text = `${String(year).padStart(4, "0")}-${
          String(month).padStart(2, "0")
        }-${String(date).padStart(2, "0")}T12:34:56Z`;
        const ms = Date.parse(text);
        // Date turns the 30th of February into a day of March.
        const isReal = !Number.isNaN(ms) &&
          new Date(ms).getUTCDate() === date;
        assertEquals(
          parseTimestamp(text),
          isReal ? { seconds: ms / 1000, nanoseconds: 0 } : undefined,
          text,
        );
      }
    }
  }
});

Deno.test("compares instants with nine fractional digits", () => {
  const inOrder = [
    ...["2025-12-31T23:59:59.999999999Z", "2026-01-01T00:00:00Z"],
    ...["2026-01-01T00:00:00.000000001Z", "2026-01-01T00:00:00.09Z"],
    ...["2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.100000001Z"],
    ...["2026-01-01T00:00:01Z"],
  ].map((text) => parseTimestamp(text)!);
  for (const [i, a] of inOrder.entries()) {
    for (const [j, b] of inOrder.entries()) {
      assertEquals(Math.sign(compareInstants(a, b)), Math.sign(i - j));
    }
  }
  const a = parseTimestamp("2026-01-01T00:00:00Z")!;
  const b = parseTimestamp("2026-01-01T00:00:00.000Z")!;
  assertEquals(compareInstants(a, b), 0);
});

Deno.test("formatting and parsing are inverse", () => {
  const seconds = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
  const nanoseconds = fc.integer({ min: 0, max: 999_999_999 });
  fc.assert(fc.property(seconds, nanoseconds, (seconds, nanoseconds) => {
    const instant = { seconds, nanoseconds };
    assertEquals(parseTimestamp(formatInstant(instant)), instant);
  }));
});

Deno.test("an instant outside the years 0001 to 9999 can't be formatted", () => {
  for (const seconds of [-62_135_596_801, 253_402_300_800, NaN, Infinity]) {
    assertThrows(
      () => formatInstant({ seconds, nanoseconds: 0 }),
      RangeError,
      "Cannot write instant: its year is not 0001 to 9999",
    );
  }
});

Deno.test("a Date becomes the same instant, also before 1970", () => {
  assertEquals(instantOf(new Date(1_500)), {
    seconds: 1,
    nanoseconds: 500_000_000,
  });
  assertEquals(instantOf(new Date(-1)), {
    seconds: -1,
    nanoseconds: 999_000_000,
  });
  assertThrows(
    () => instantOf(new Date(NaN)),
    RangeError,
    "Cannot use date: it is invalid",
  );
});

Deno.test("addSeconds keeps the nanoseconds", () => {
  const instant = { seconds: 10, nanoseconds: 7 };
  assertEquals(addSeconds(instant, -60), { seconds: -50, nanoseconds: 7 });
  assertEquals(instant.seconds, 10);
});

Deno.test("validInstant throws a TypeError for an invalid timestamp", () => {
  assertThrows(
    () => validInstant("yesterday"),
    TypeError,
    "Cannot use timestamp: it must be validated first",
  );
});
