/** Returns a state in pages, all from the same state (docs/reference/http.md). @module */

import { type FeedState, parseJson, SigError } from "@sig/core";
import {
  decodeBase64UrlStrict,
  runInSlices,
  timeAsAsked,
  walkState,
} from "@sig/core/internal";
import { encodeBase64Url } from "@sig/jose/internal";
import { z } from "zod";
import type { Sources } from "./answer_check.ts";
import { DEFAULT_PAGE, type DumpStateRequest } from "../schemas/question.ts";

/** 9999-12-31T23:59:59.999Z, the latest instant of RFC 3339. */
const MAX_DATE_MS = 253_402_300_799_999;
/**
 * Approximate maximum length of a page in characters: a relationship may
 * contain roles of 64 KiB.
 */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;

/** The position after a page. */
const CURSOR = z.strictObject({
  /** The version of this format. */
  version: z.literal(3),
  /** The last sequence of the state that the first page was taken from. */
  sequence: z.int().min(1),
  /** When that event was issued, to detect another history. */
  event: z.string(),
  /** The time at which the first page was evaluated, in milliseconds. */
  judgedAtMs: z.int().min(0).max(MAX_DATE_MS),
  /** The id of the last relationship of the page. */
  after: z.string(),
  /** The question that the cursor belongs to. */
  question: z.string(),
});
/** The position after a page. */
type Cursor = z.output<typeof CURSOR>;

/** Encodes a cursor as base64url text, which is opaque to clients. */
export function writeCursor(cursor: Cursor): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(cursor)));
}

/**
 * Decodes a cursor of {@linkcode writeCursor} for the same question.
 *
 * @throws {SigError} `invalid_request` for any other text.
 */
export function readCursor(text: string, question: string): Cursor {
  let value: unknown;
  try {
    // Invalid base64url becomes an empty text, which is not JSON either.
    value = parseJson(decodeBase64UrlStrict(text) ?? "", { maxValues: 16 });
  } catch (cause) {
    throw invalidCursor("it is not one of this service", { cause });
  }
  const { data } = CURSOR.safeParse(value);
  if (data === undefined) throw invalidCursor("it is not one of this service");
  if (data.question !== question) {
    throw invalidCursor("it belongs to another question");
  }
  return data;
}

function invalidCursor(
  why: string,
  { cause, hint = "Send `next_cursor` with everything else as it was." }: {
    readonly cause?: unknown;
    readonly hint?: string;
  } = {},
): SigError {
  return new SigError("invalid_request", {
    action: "go on from cursor",
    reason: why,
    context: { pointer: "/cursor", hint },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Returns where the page begins; undefined for the first one.
 *
 * @throws {SigError} `invalid_request` for a cursor of another question.
 */
export function cursorOf(request: DumpStateRequest): Cursor | undefined {
  const { cursor } = request;
  return cursor === undefined
    ? undefined
    : readCursor(cursor, questionOf(request));
}

/**
 * Returns a page as JSON text. All pages of a dump show the state and time of
 * the first page, even if the feed has grown since. A page costs work only for
 * its own relationships, and nothing is kept between pages except the state's
 * own sorted identifiers.
 *
 * @throws {SigError} as `walkState`, and `invalid_request` for a cursor of
 * another history.
 */
export async function pageOf(
  state: FeedState,
  request: DumpStateRequest,
  cursor: Cursor | undefined,
  { now, yieldToEventLoop }: Pick<Sources, "now" | "yieldToEventLoop">,
): Promise<string> {
  const { history } = state;
  const sequence = cursor?.sequence ?? state.last_sequence;
  requireSequence(state, sequence);
  if (cursor !== undefined && cursor.event !== eventOf(state, sequence)) {
    throw invalidCursor(`the feed has another event ${sequence} now`, {
      hint: "Begin again without `cursor`.",
    });
  }
  const judgedAtMs = cursor?.judgedAtMs ?? now().getTime();
  const { at, as_of: asOf, subject, status } = request;
  const known = { issuer: state.issuer, last_sequence: sequence, history };
  const { issuer, last_sequence, entries, hasMore } = await runInSlices(
    walkState(known, {
      now: new Date(judgedAtMs),
      at,
      asOf,
      subject,
      status,
      after: cursor?.after,
      limit: request.limit ?? DEFAULT_PAGE,
      maxLength: MAX_PAGE_LENGTH,
    }),
    yieldToEventLoop,
  );
  const after = entries.at(-1)?.[0];
  const question = questionOf(request);
  const next = !hasMore || after === undefined ? null : writeCursor({
    version: 3,
    sequence,
    event: eventOf(state, sequence),
    judgedAtMs,
    after,
    question,
  });
  // Not a JavaScript object: it would order identifiers such as "10" first, and
  // could not safely contain `__proto__`.
  const members = entries.map(([id, relationship]) =>
    `${JSON.stringify(id)}:${JSON.stringify(relationship)}`
  );
  return `{"issuer":${JSON.stringify(issuer)},` +
    `"last_sequence":${last_sequence},` +
    `"by_relationship_id":{${members.join(",")}},` +
    `"next_cursor":${JSON.stringify(next)}}`;
}

/**
 * Returns when the event at a sequence was issued, to detect another history.
 */
function eventOf({ history }: FeedState, sequence: number): string {
  const { seconds, nanoseconds } = history.issuedAt(sequence);
  return `${seconds}.${nanoseconds}`;
}

/** Returns all parameters that decide which relationships a dump contains. */
function questionOf(request: DumpStateRequest): string {
  const { issuer, sig, feed, at, as_of, subject, status } = request;
  const source = [issuer?.text, sig?.text, feed === undefined];
  const times = [timeAsAsked(at), timeAsAsked(as_of)];
  return JSON.stringify([...source, ...times, subject, status]);
}

/** Requires that the feed is not shorter than at the first page. */
function requireSequence(state: FeedState, sequence: number): void {
  const { last_sequence } = state;
  if (sequence <= last_sequence) return;
  throw new SigError("consistency_unavailable", {
    action: "go on from cursor",
    reason:
      `it is about sequence ${sequence}, and the feed ends at ${last_sequence}`,
    context: { sequence, last_sequence },
  });
}
