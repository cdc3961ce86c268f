/** A state in pages that never mix two states. @module */

import {
  dumpState,
  type FeedState,
  type RelationshipState,
  SigError,
} from "@sig/core";
import { checkEvent, type Cursor, readCursor, writeCursor } from "./cursor.ts";
import { digestEvent } from "./digest_event.ts";
import { prefixOf } from "./prefix_of.ts";
import { DEFAULT_PAGE, type DumpStateRequest } from "./schema/requests.ts";
import { writeMembers } from "./write_members.ts";

/** One page. */
export interface StatePage {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /**
   * Relationships by their identifiers, sorted by code units: members of a JSON
   * object as texts. Fewer than asked for where they are large.
   */
  readonly relationships: readonly string[];
  /** What asks for the next page, null on the last one. */
  readonly next_cursor: string | null;
}

/** Makes pages of states. */
export interface StatePages {
  /**
   * Where the page begins; undefined for the first one.
   *
   * @throws {SigError} `invalid_request` for a cursor of another question.
   */
  begin(request: DumpStateRequest): Cursor | undefined;
  /**
   * The page.
   *
   * @throws {SigError} as `dumpState`, and `invalid_request` for a cursor of
   * another history.
   */
  page(
    request: DumpStateRequest,
    cursor: Cursor | undefined,
    state: FeedState,
  ): Promise<StatePage>;
}

interface Dump {
  readonly history: FeedState["history"];
  readonly issuer: string;
  readonly lastSequence: number;
  /** The last event; empty for an empty feed, which has one page. */
  readonly event: string;
  readonly entries: readonly (readonly [string, RelationshipState])[];
}

/** Dumps kept between their pages; the oldest one goes first. */
const MAX_KEPT = 4;

/**
 * Makes what divides states into pages. All pages of one dump are of the state
 * and the instant of its first page, also when the feed has grown since.
 */
export function createStatePages(now: () => Date): StatePages {
  // Sorting a state of 250,000 relationships for each of its pages would cost
  // more than all the rest.
  const kept = new Map<string, Dump>();

  const dump = async (
    request: DumpStateRequest,
    cursor: Cursor | undefined,
    question: string,
    sequence: number,
    judgedAtMs: number,
    state: FeedState,
  ): Promise<Dump> => {
    const key = JSON.stringify([question, sequence, judgedAtMs]);
    const before = kept.get(key);
    if (before?.history === state.history) {
      if (cursor !== undefined) checkEvent(cursor, before.event);
      return before;
    }
    const event = sequence === 0 ? "" : await digestEvent(state, sequence);
    if (cursor !== undefined) checkEvent(cursor, event);
    const { at, as_of: asOf, subject, status } = request;
    const { issuer, last_sequence, by_relationship_id } = dumpState(
      prefixOf(state, sequence),
      { now: new Date(judgedAtMs), at, asOf, subject, status },
    );
    const made: Dump = {
      history: state.history,
      issuer,
      lastSequence: last_sequence,
      event,
      entries: [...by_relationship_id],
    };
    const pageSize = request.limit ?? DEFAULT_PAGE;
    // A feed that comes along is another one with the next page.
    if (request.feed === undefined && made.entries.length > pageSize) {
      kept.delete(key);
      kept.set(key, made);
      if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    }
    return made;
  };

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
      const { issuer, lastSequence, event, entries } = await dump(
        request,
        cursor,
        question,
        sequence,
        judgedAtMs,
        state,
      );
      const from = cursor === undefined ? 0 : firstAfter(entries, cursor.after);
      const to = from + (request.limit ?? DEFAULT_PAGE);
      const { texts, end } = writeMembers(entries, from, to);
      const after = entries[end - 1]?.[0];
      return {
        issuer,
        last_sequence: lastSequence,
        relationships: texts,
        next_cursor: after === undefined || end >= entries.length
          ? null
          : writeCursor({ sequence, event, judgedAtMs, after, question }),
      };
    },
  };
}

/** What a cursor belongs to: everything that decides what is in the dump. */
function questionOf(request: DumpStateRequest): string {
  const { issuer, sig, feed, at, as_of, subject, status } = request;
  const source = [issuer ?? null, sig ?? null, feed === undefined];
  return JSON.stringify([...source, at, as_of, subject, status]);
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

/** Where the first entry behind an identifier is, by bisection. */
function firstAfter(
  entries: readonly (readonly [string, unknown])[],
  id: string,
): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (entries[middle]![0] > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * A page as JSON text. Written member by member: a JavaScript object would put
 * identifiers such as "10" first, and could not hold `__proto__` safely.
 */
export function stringifyPage(page: StatePage): string {
  return `{"issuer":${JSON.stringify(page.issuer)},` +
    `"last_sequence":${page.last_sequence},` +
    `"by_relationship_id":{${page.relationships.join(",")}},` +
    `"next_cursor":${JSON.stringify(page.next_cursor)}}`;
}
