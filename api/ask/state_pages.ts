/** A state in pages that never mix two states. @module */

import { type FeedState, type RelationshipState, SigError } from "@sig/core";
import { runInSlices, timeAsAsked, walkState } from "@sig/core/internal";
import {
  type Cursor,
  readCursor,
  requireEvent,
  writeCursor,
} from "./cursor.ts";
import { DEFAULT_PAGE, type DumpStateRequest } from "../schemas/question.ts";

/** One page. */
export interface StatePage {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /**
   * Relationships in the order of their first events. Fewer than asked
   * for where they are large.
   */
  readonly relationships: readonly (readonly [string, RelationshipState])[];
  /** What asks for the next page, null on the last one. */
  readonly next_cursor: string | null;
  /** Characters of its text, roughly. */
  readonly length: number;
}

/** Makes pages of states. */
interface StatePages {
  /**
   * Where the page begins; undefined for the first one.
   *
   * @throws {SigError} `invalid_request` for a cursor of another question.
   */
  begin(request: DumpStateRequest): Cursor | undefined;
  /**
   * The page.
   *
   * @throws {SigError} as `walkState`, and `invalid_request` for a cursor of
   * another history.
   */
  page(
    request: DumpStateRequest,
    cursor: Cursor | undefined,
    state: FeedState,
  ): Promise<StatePage>;
}

/**
 * Characters of a page's texts, roughly: an issuer may write roles of 64 KiB a
 * relationship.
 */
const MAX_PAGE_LENGTH = 4 * 1024 * 1024;

/** What pages need. */
interface StatePagesContext {
  /** The clock: the first page fixes the instant of all. */
  readonly now: () => Date;
  /** Awaited between slices of long work. */
  readonly yieldToEventLoop: () => Promise<void>;
}

/**
 * Makes what divides states into pages. All pages of one dump are of the state
 * and the instant of its first page, also when the feed has grown since. A page
 * goes through no more than itself, and nothing is kept between pages but the
 * order of the identifiers, which is the state's own.
 */
export function createStatePages(
  { now, yieldToEventLoop }: StatePagesContext,
): StatePages {
  return {
    begin: ({ cursor, ...request }) =>
      cursor === undefined
        ? undefined
        : readCursor(cursor, questionOf(request)),
    async page(request, cursor, state) {
      const question = cursor?.question ?? questionOf(request);
      const sequence = cursor?.sequence ?? state.last_sequence;
      const judgedAtMs = cursor?.judgedAtMs ?? now().getTime();
      requireSequence(state, sequence);
      if (cursor !== undefined) {
        requireEvent(cursor, issuedAtOf(state, sequence));
      }
      const { at, as_of: asOf, subject, status, limit } = request;
      const part = await runInSlices(
        walkState(prefixOf(state, sequence), {
          ...{ now: new Date(judgedAtMs), at, asOf, subject, status },
          after: cursor?.after,
          limit: limit ?? DEFAULT_PAGE,
          maxLength: MAX_PAGE_LENGTH,
        }),
        yieldToEventLoop,
      );
      const { issuer, last_sequence, entries, hasMore, length } = part;
      const after = entries.at(-1)?.[0];
      const next_cursor = !hasMore || after === undefined ? null : writeCursor({
        ...{ sequence, judgedAtMs, after, question },
        event: issuedAtOf(state, sequence),
      });
      const relationships = entries;
      return { issuer, last_sequence, relationships, next_cursor, length };
    },
  };
}

/** When the event at a sequence was issued: it tells two histories apart. */
function issuedAtOf({ history }: FeedState, sequence: number): string {
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

/**
 * A page as JSON text. Written member by member: a JavaScript object
 * would put identifiers such as "10" first, and could not hold `__proto__`
 * safely.
 */
export function stringifyPage(page: StatePage): string {
  const { issuer, last_sequence, next_cursor } = page;
  const members = page.relationships.map(([id, state]) =>
    `${JSON.stringify(id)}:${JSON.stringify(state)}`
  );
  return `{"issuer":${JSON.stringify(issuer)},` +
    `"last_sequence":${last_sequence},` +
    `"by_relationship_id":{${members.join(",")}},` +
    `"next_cursor":${JSON.stringify(next_cursor)}}`;
}

/**
 * The state that a feed had at an earlier event. Its history is shared:
 * questions to a state look only as far as its `last_sequence`.
 */
function prefixOf(state: FeedState, lastSequence: number): FeedState {
  if (lastSequence === state.last_sequence) return state;
  const { issuer, history } = state;
  return {
    issuer,
    last_sequence: lastSequence,
    history,
    get by_relationship_id() {
      const map = new Map<string, RelationshipState>();
      for (const [id, versions] of history.versions) {
        const version = versions.findLast((each) =>
          each.state.last_sequence <= lastSequence
        );
        if (version !== undefined) map.set(id, version.state);
      }
      return map;
    },
  };
}
