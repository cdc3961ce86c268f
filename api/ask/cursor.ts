/** Where a page of a state ended (docs/reference/http.md). @module */

import { parseJson, SigError } from "@sig/core";
import { decodeBase64UrlStrict } from "@sig/core/internal";
import { encodeBase64Url } from "@sig/jose/internal";

/** What a cursor holds. */
export interface Cursor {
  /** The state that the first page was of: its last event. */
  readonly sequence: number;
  /** When that event was issued, which tells histories apart. */
  readonly event: string;
  /** The instant that the first page was judged at, in milliseconds. */
  readonly judgedAtMs: number;
  /** The last relationship of the page. */
  readonly after: string;
  /** Which question it belongs to. */
  readonly question: string;
}

/** Of what a cursor holds. */
const VERSION = 2;

/** A cursor as text: base64url, not to be taken apart by clients. */
export function writeCursor(cursor: Cursor): string {
  const { sequence, event, judgedAtMs, after, question } = cursor;
  const text = JSON.stringify(
    [VERSION, sequence, event, judgedAtMs, after, question],
  );
  return encodeBase64Url(new TextEncoder().encode(text));
}

/**
 * Reads what {@linkcode writeCursor} wrote, for the same question.
 *
 * @throws {SigError} `invalid_request` for anything else.
 */
export function readCursor(text: string, question: string): Cursor {
  let value: unknown;
  try {
    // Invalid base64url is not JSON either.
    value = parseJson(decodeBase64UrlStrict(text) ?? "", { maxValues: 16 });
  } catch (cause) {
    throw misfit("it is not one of this service", cause);
  }
  const [version, sequence, event, judgedAtMs, after, asked, ...more] =
    Array.isArray(value) ? value : [];
  if (
    version !== VERSION || !isCount(sequence) || sequence === 0 ||
    typeof event !== "string" || !isCount(judgedAtMs) ||
    typeof after !== "string" || typeof asked !== "string" ||
    more.length > 0 || judgedAtMs > MAX_DATE_MS
  ) throw misfit("it is not one of this service");
  if (asked !== question) {
    throw misfit("it belongs to another question");
  }
  return { sequence, event, judgedAtMs, after, question };
}

/**
 * Refuses to go on in a feed that has another event at the cursor's sequence:
 * the pages would be of two histories.
 *
 * @throws {SigError} `invalid_request`
 */
export function requireEvent(cursor: Cursor, event: string): void {
  if (cursor.event === event) return;
  throw misfit(
    `the feed has another event ${cursor.sequence} now`,
    undefined,
    "Begin again without `cursor`.",
  );
}

/** 9999-12-31T23:59:59.999Z: later instants can't be written. */
const MAX_DATE_MS = 253_402_300_799_999;

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function misfit(
  why: string,
  cause?: unknown,
  hint = "Send `next_cursor` with everything else as it was.",
): SigError {
  return new SigError("invalid_request", `Cannot go on from cursor: ${why}`, {
    context: { pointer: "/cursor", hint },
    ...(cause === undefined ? {} : { cause }),
  });
}
