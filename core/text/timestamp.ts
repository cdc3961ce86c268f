/** RFC 3339 UTC with nanosecond precision (docs/protocol.md §3). @module */

/** A point in time. */
export interface Instant {
  /** Whole seconds since 1970-01-01T00:00:00Z; negative before. */
  readonly seconds: number;
  /** Nanoseconds within the second: 0 to 999,999,999. */
  readonly nanoseconds: number;
}

/** 0001-01-01T00:00:00Z. */
const MIN_SECONDS = -62_135_596_800;
/** 9999-12-31T23:59:59Z. */
const MAX_SECONDS = 253_402_300_799;
const SECONDS_OF_400_YEARS = 146_097 * 86_400;

/**
 * Parses `YYYY-MM-DDThh:mm:ss[.1–9 digits]Z`, or returns undefined for anything
 * else: no offset, no lower case, a real calendar date, years 0001–9999, no
 * hour 24, no second 60. `Date` and `Temporal` accept far more than that.
 *
 * @example
 * ```ts
 * import { parseTimestamp } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseTimestamp("1970-01-01T00:01:00.5Z"), {
 *   seconds: 60,
 *   nanoseconds: 500_000_000,
 * });
 * assertEquals(parseTimestamp("2026-02-30T00:00:00Z"), undefined);
 * assertEquals(parseTimestamp("2026-01-01T00:00:00+00:00"), undefined);
 * ```
 */
export function parseTimestamp(text: unknown): Instant | undefined {
  if (typeof text !== "string" || text.length < 20 || text.length > 30) {
    return undefined;
  }
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  if (
    text[4] !== "-" || text[7] !== "-" || text[10] !== "T" ||
    text[13] !== ":" || text[16] !== ":" || !text.endsWith("Z")
  ) return undefined;
  // A part that is not digits becomes -1, which is outside every range below.
  if (
    year < 1 || month < 1 || month > 12 || day < 1 ||
    day > daysInMonth(year, month) || hour < 0 || hour > 23 || minute < 0 ||
    minute > 59 || second < 0 || second > 59
  ) return undefined;
  const nanoseconds = fraction(text);
  if (nanoseconds < 0) return undefined;
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999; the calendar repeats
  // every 400 years.
  const ms = Date.UTC(year + 400, month - 1, day, hour, minute, second);
  return { seconds: ms / 1000 - SECONDS_OF_400_YEARS, nanoseconds };
}

/** Returns the instant of a timestamp that was validated before. */
export function validInstant(timestamp: string): Instant {
  const instant = parseTimestamp(timestamp);
  if (instant !== undefined) return instant;
  throw new TypeError("Cannot use timestamp: it must be validated first");
}

/** Returns the number between two positions, or -1 unless all are digits. */
function digits(text: string, from: number, to: number): number {
  let n = 0;
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i) - 0x30;
    if (!(c >= 0 && c <= 9)) return -1;
    n = n * 10 + c;
  }
  return n;
}

/** Returns the nanoseconds between the seconds and the `Z`, or -1. */
function fraction(text: string): number {
  if (text.length === 20) return 0;
  const end = text.length - 1;
  if (text[19] !== "." || end === 20) return -1;
  const n = digits(text, 20, end);
  return n < 0 ? -1 : n * 10 ** (9 - (end - 20));
}

function daysInMonth(year: number, month: number): number {
  if (month !== 2) {
    return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
  }
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
}

/**
 * Compares two instants: negative if `a` is earlier than `b`, positive if
 * later, 0 if equal.
 *
 * @example
 * ```ts
 * import { compareInstants, parseTimestamp } from "@sig/core";
 * import { assert } from "@std/assert";
 *
 * const a = parseTimestamp("2026-01-01T00:00:00.1Z")!;
 * const b = parseTimestamp("2026-01-01T00:00:00.09Z")!;
 * assert(compareInstants(a, b) > 0);
 * ```
 */
export function compareInstants(a: Instant, b: Instant): number {
  return a.seconds - b.seconds || a.nanoseconds - b.nanoseconds;
}

/**
 * Returns the instant of a `Date`.
 *
 * @example
 * ```ts
 * import { instantOf } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const expected = { seconds: 1, nanoseconds: 500_000_000 };
 * assertEquals(instantOf(new Date(1_500)), expected);
 * ```
 *
 * @throws {RangeError} for an invalid date.
 */
export function instantOf(date: Date): Instant {
  const ms = date.getTime();
  if (Number.isNaN(ms)) throw new RangeError("Cannot use date: it is invalid");
  const seconds = Math.floor(ms / 1000);
  return { seconds, nanoseconds: (ms - seconds * 1000) * 1_000_000 };
}

/** Returns the instant some whole seconds later (or earlier, if negative). */
export function addSeconds(instant: Instant, seconds: number): Instant {
  return { ...instant, seconds: instant.seconds + seconds };
}

/**
 * Formats an instant as RFC 3339 UTC, with as many fractional digits as needed.
 *
 * @example
 * ```ts
 * import { formatInstant } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const text = formatInstant({ seconds: 60, nanoseconds: 500_000_000 });
 * assertEquals(text, "1970-01-01T00:01:00.5Z");
 * ```
 *
 * @throws {RangeError} outside the years 0001 to 9999, which have no spelling.
 */
export function formatInstant({ seconds, nanoseconds }: Instant): string {
  if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) {
    throw new RangeError("Cannot write instant: its year is not 0001 to 9999");
  }
  const ms = Math.trunc(nanoseconds / 1_000_000);
  const text = new Date(seconds * 1000 + ms).toISOString();
  // Usually milliseconds, which `Date` spells, but with three digits.
  if (ms % 10 !== 0 && ms * 1_000_000 === nanoseconds) return text;
  // Joined, because + would create a rope: an answer with one takes
  // `JSON.stringify` three times as long.
  return [text.slice(0, 19), fractionOf(nanoseconds), "Z"].join("");
}

function fractionOf(nanoseconds: number): string {
  if (nanoseconds === 0) return "";
  return `.${String(nanoseconds).padStart(9, "0").replace(/0+$/, "")}`;
}
