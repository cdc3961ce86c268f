/** A request for a part of a document (RFC 9110 §14). @module */

/** The bytes from `start` up to, not including, `end`. */
export interface ByteRange {
  /** First byte, from 0. */
  readonly start: number;
  /** One behind the last byte. */
  readonly end: number;
}

/**
 * Reads a `Range` header for a document of that many bytes: undefined when it
 * is to be ignored (another unit, several ranges, malformed), `unsatisfiable`
 * when it lies behind the end.
 *
 * @example
 * ```ts
 * import { parseByteRange } from "./byte_range.ts";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(parseByteRange("bytes=2-", 10), { start: 2, end: 10 });
 * assertEquals(parseByteRange("bytes=-3", 10), { start: 7, end: 10 });
 * assertEquals(parseByteRange("bytes=10-", 10), "unsatisfiable");
 * ```
 */
export function parseByteRange(
  header: string,
  length: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=[ \t]*(\d{0,15})-(\d{0,15})[ \t]*$/i.exec(header);
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") {
    if (last === "") return undefined;
    const suffix = Math.min(Number(last), length);
    return suffix === 0
      ? "unsatisfiable"
      : { start: length - suffix, end: length };
  }
  const start = Number(first);
  const end = last === "" ? length : Math.min(Number(last) + 1, length);
  if (last !== "" && Number(last) < start) return undefined;
  return start >= length ? "unsatisfiable" : { start, end };
}
