/** A state in pages that never mix two states (docs/reference/http.md). @module */

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

/** 9999-12-31T23:59:59.999Z: later instants can't be written. */
const MAX_DATE_MS = 253_402_300_799_999;
/**
 * Characters of a page's texts, roughly: an issuer may write roles of 64 KiB a
 * relationship.
 */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;

/** Where a page ended. */
const CURSOR = z.strictObject({
  /** The version of these members. */
  version: z.literal(3),
  /** The state that the first page was of: its last event. */
  sequence: z.int().min(1),
  /** When that event was issued, which tells histories apart. */
  event: z.string(),
  /** The instant that the first page was judged at, in milliseconds. */
  judgedAtMs: z.int().min(0).max(MAX_DATE_MS),
  /** The last relationship of the page. */
  after: z.string(),
  /** Which question it belongs to. */
  question: z.string(),
});
/** Where a page ended. */
export type Cursor = z.output<typeof CURSOR>;

/** A cursor as text: base64url, not to be taken apart by clients. */
export function writeCursor(cursor: Cursor): string {
  return encodeBase64Url(new TextEncoder().encode(JSON.stringify(cursor)));
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
    throw misfit("it is not one of this service", { cause });
  }
  const { data } = CURSOR.safeParse(value);
  if (data === undefined) throw misfit("it is not one of this service");
  if (data.question !== question) {
    throw misfit("it belongs to another question");
  }
  return data;
}

function misfit(
  why: string,
  { cause, hint = "Send `next_cursor` with everything else as it was." }: {
    readonly cause?: unknown;
    readonly hint?: string;
  } = {},
): SigError {
  return new SigError("invalid_request", `Cannot go on from cursor: ${why}`, {
    context: { pointer: "/cursor", hint },
    ...(cause === undefined ? {} : { cause }),
  });
}

/**
 * Where the page begins; undefined for the first one.
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
 * The page as JSON text. All pages of one dump are of the state and the instant
 * of its first page, also when the feed has grown since. A page goes through no
 * more than itself, and nothing is kept between pages but the order of the
 * identifiers, which is the state's own.
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
    throw misfit(`the feed has another event ${sequence} now`, {
      hint: "Begin again without `cursor`.",
    });
  }
  const judgedAtMs = cursor?.judgedAtMs ?? now().getTime();
  const { at, as_of: asOf, subject, status } = request;
  const known = { issuer: state.issuer, last_sequence: sequence, history };
  const { issuer, last_sequence, entries, hasMore } = await runInSlices(
    walkState(known, {
      ...{ now: new Date(judgedAtMs), at, asOf, subject, status },
      after: cursor?.after,
      limit: request.limit ?? DEFAULT_PAGE,
      maxLength: MAX_PAGE_LENGTH,
    }),
    yieldToEventLoop,
  );
  const after = entries.at(-1)?.[0];
  const question = questionOf(request);
  const next = !hasMore || after === undefined ? null : writeCursor({
    ...{ version: 3, sequence, event: eventOf(state, sequence) },
    ...{ judgedAtMs, after, question },
  });
  // Member by member: a JavaScript object would put identifiers such as "10"
  // first, and could not hold `__proto__` safely.
  const members = entries.map(([id, relationship]) =>
    `${JSON.stringify(id)}:${JSON.stringify(relationship)}`
  );
  return `{"issuer":${JSON.stringify(issuer)},` +
    `"last_sequence":${last_sequence},` +
    `"by_relationship_id":{${members.join(",")}},` +
    `"next_cursor":${JSON.stringify(next)}}`;
}

/** When the event at a sequence was issued: it tells two histories apart. */
function eventOf({ history }: FeedState, sequence: number): string {
  const { seconds, nanoseconds } = history.issuedAt(sequence);
  return `${seconds}.${nanoseconds}`;
}

/** What a cursor belongs to: everything that decides what is in the dump. */
function questionOf(request: DumpStateRequest): string {
  const { issuer, sig, feed, at, as_of, subject, status } = request;
  const source = [issuer?.text, sig?.text, feed === undefined];
  const times = [timeAsAsked(at), timeAsAsked(as_of)];
  return JSON.stringify([...source, ...times, subject, status]);
}

/** The feed may be longer than it was, but not shorter. */
function requireSequence(state: FeedState, sequence: number): void {
  const { last_sequence } = state;
  if (sequence <= last_sequence) return;
  throw new SigError(
    "consistency_unavailable",
    `Cannot go on from cursor: it is about sequence ${sequence}, and the ` +
      `feed ends at ${last_sequence}`,
    { context: { sequence, last_sequence } },
  );
}
