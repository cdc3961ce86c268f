/** Where a page of a state ended (INTERFACES §3, `/v1/dump-state`). @module */

import { decodeBase64UrlStrict, parseJson, SigError } from "@sig/core";
import { encodeBase64Url } from "@sig/jose";

/** What a cursor holds. */
export interface Cursor {
  /** The state that the first page was of: its last event. */
  readonly sequence: number;
  /** The instant that the first page was judged at, in milliseconds. */
  readonly judgedAtMs: number;
  /** The last relationship of the page. */
  readonly after: string;
  /** Which question it belongs to. */
  readonly question: string;
}

/** A cursor as text: base64url, not to be taken apart by clients. */
export function writeCursor(cursor: Cursor): string {
  const { sequence, judgedAtMs, after, question } = cursor;
  const text = JSON.stringify([1, sequence, judgedAtMs, after, question]);
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
    // What is no base64url is no JSON either.
    value = parseJson(decodeBase64UrlStrict(text) ?? "");
  } catch (cause) {
    throw misfit("it is not one of this service", cause);
  }
  const [version, sequence, judgedAtMs, after, asked] = Array.isArray(value)
    ? value
    : [];
  if (
    version !== 1 || !isCount(sequence) || !isCount(judgedAtMs) ||
    typeof after !== "string" || typeof asked !== "string" ||
    judgedAtMs > MAX_DATE_MS
  ) throw misfit("it is not one of this service");
  if (asked !== question) {
    throw misfit("it belongs to another question");
  }
  return { sequence, judgedAtMs, after, question };
}

/** 9999-12-31T23:59:59.999Z: later instants can't be written. */
const MAX_DATE_MS = 253_402_300_799_999;

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function misfit(why: string, cause?: unknown): SigError {
  return new SigError("invalid_request", `Cannot go on from cursor: ${why}`, {
    context: {
      pointer: "/cursor",
      hint: "Send `next_cursor` with everything else as it was.",
    },
    ...(cause === undefined ? {} : { cause }),
  });
}
