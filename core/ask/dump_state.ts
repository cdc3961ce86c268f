/** States as JSON, now or in the past (docs/protocol.md §4, §5). @module */

import { SigError } from "../errors/error.ts";
import {
  type KnownState,
  parseTime,
  resolveTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import {
  countFirst,
  type FeedHistory,
  HistoryBuilder,
} from "../replay/history.ts";
import type { FeedState } from "../replay/replay.ts";
import {
  EFFECTIVE_STATUSES,
  effectiveStateAt,
  type EffectiveStatus,
} from "../replay/effective_state.ts";
import { runSteps, STEP_UNITS, type Steps } from "../text/steps.ts";
import type { RelationshipState } from "../event/types.ts";

/** Options of {@linkcode dumpState}. */
export interface DumpStateOptions extends TimeQuestion {
  /** Only relationships about this subject. */
  readonly subject?: string | undefined;
  /** Only relationships with this effective status at that time. */
  readonly status?: string | undefined;
}

/** Options of {@linkcode walkState}. */
export interface StatePageOptions extends DumpStateOptions {
  /** The relationship after which to begin (default: at the first one). */
  readonly after?: string | undefined;
  /** Maximum number of relationships (default: all). */
  readonly limit?: number | undefined;
  /**
   * Maximum length of their texts in characters, roughly; one relationship is
   * always included (default: no limit).
   */
  readonly maxLength?: number | undefined;
}

/** A part of a state's relationships, in the order of the feed. */
export interface StatePage {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event taken into account. */
  readonly last_sequence: number;
  /** Identifier, state and effective status of each relationship. */
  readonly entries: readonly (readonly [
    string,
    RelationshipState,
    EffectiveStatus,
  ])[];
  /** Whether more relationships follow. */
  readonly hasMore: boolean;
}

/** A state, or a part of it, sorted by relationship. */
export interface StateDump {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event taken into account. */
  readonly last_sequence: number;
  /** The relationships, sorted by their identifiers' UTF-16 code units. */
  readonly by_relationship_id: ReadonlyMap<string, RelationshipState>;
  /** The effective status of each relationship; not part of the JSON text. */
  readonly statuses: ReadonlyMap<string, EffectiveStatus>;
}

/**
 * Returns the state, or what of it was true or known at a time, filtered on
 * request. With `at`, relationships that had neither been issued nor begun by
 * then are left out.
 *
 * @example
 * ```ts
 * import { dumpState, replay, stringifyDump } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state } = replay([], { issuer: "did:web:acme.example" });
 * const dump = dumpState(state, { now: new Date(0), status: "active" });
 * assertEquals(JSON.parse(stringifyDump(dump)), {
 *   issuer: "did:web:acme.example",
 *   last_sequence: 0,
 *   by_relationship_id: {},
 * });
 * ```
 *
 * @throws {SigError} `invalid_request` for a malformed time or status,
 * `consistency_unavailable` for a sequence beyond the feed.
 */
export function dumpState(
  state: FeedState,
  options: DumpStateOptions,
): StateDump {
  const { issuer, last_sequence, entries } = runSteps(
    walkState(state, options),
  );
  const rows = entries.toSorted(([a], [b]) => a < b ? -1 : 1);
  return {
    issuer,
    last_sequence,
    by_relationship_id: new Map(rows.map(([id, state]) => [id, state])),
    statuses: new Map(rows.map(([id, , status]) => [id, status])),
  };
}

/** Approximate number of characters of a state's names and fixed values. */
const STATE_LENGTH = 300;
/** Maximum number of a subject's relationships that are sorted separately. */
const FEW = 256;

/**
 * Returns a part of {@linkcode dumpState} from one relationship on, in steps
 * and in the order of the feed. The cost of a page is proportional to the
 * relationships that it passes.
 *
 * @throws {SigError} as {@linkcode dumpState}, at the first step.
 */
export function* walkState(
  state: KnownState,
  options: StatePageOptions,
): Steps<StatePage> {
  const { subject, after, limit = Infinity, maxLength = Infinity } = options;
  const status = parseStatus(options.status);
  const time = resolveTime(state, parseTime(options), options.now);
  const { history } = state;
  const ids = idsOf(state, subject);
  const entries: [string, RelationshipState, EffectiveStatus][] = [];
  let hasMore = false;
  let length = 0;
  let units = 0;
  let at = after === undefined ? 0 : firstAfter(ids, after, history);
  for (; at < ids.length; at++) {
    const id = ids[at]!;
    if (units >= STEP_UNITS) {
      units = 0;
      yield;
    }
    units += 1 + (history.versions.get(id)!.length >> 3);
    const effective = effectiveStateAt(history, id, time);
    if (!effective?.known) continue;
    if (subject !== undefined && effective.state.subject !== subject) continue;
    if (status !== undefined && effective.status !== status) continue;
    const { roles } = effective.state;
    units += roles.length >> 3;
    let longer = length + STATE_LENGTH + 2 * id.length +
      effective.state.subject.length;
    for (const role of roles) longer += role.length + 3;
    hasMore = entries.length === limit ||
      entries.length > 0 && longer > maxLength;
    if (hasMore) break;
    entries.push([id, effective.state, effective.status]);
    length = longer;
  }
  return {
    issuer: state.issuer,
    last_sequence: time.events,
    entries,
    hasMore,
  };
}

/**
 * Returns identifiers in the order of the feed; they may include relationships
 * of other subjects and of later events. Only a whole history is too long to
 * sort.
 */
function idsOf(
  { history }: KnownState,
  subject: string | undefined,
): readonly string[] {
  const ids = subject === undefined
    ? undefined
    : history.relationshipsOf(subject);
  const isFew = ids !== undefined && ids.size <= FEW;
  if (!isFew && history instanceof HistoryBuilder) return history.ids;
  return [...ids ?? history.versions.keys()]
    .sort((a, b) => firstSequence(history, a) - firstSequence(history, b));
}

/** Returns the sequence of a relationship's first event. */
function firstSequence({ versions }: FeedHistory, id: string): number {
  return versions.get(id)?.[0]?.state.last_sequence ?? 0;
}

/** Returns the index of the first identifier after another one. */
function firstAfter(
  ids: readonly string[],
  id: string,
  history: FeedHistory,
): number {
  const sequence = firstSequence(history, id);
  return countFirst(
    ids.length,
    (at) => firstSequence(history, ids[at]!) <= sequence,
  );
}

function parseStatus(status: string | undefined): EffectiveStatus | undefined {
  const known = EFFECTIVE_STATUSES.find((each) => each === status);
  if (known !== undefined || status === undefined) return known;
  throw new SigError("invalid_request", {
    action: "filter",
    reason: `status must be one of ${EFFECTIVE_STATUSES.join(", ")}`,
    context: { pointer: "/status" },
  });
}

/**
 * Returns a dump as JSON text. It is written member by member: a JavaScript
 * object would put identifiers such as "10" first, and could not hold
 * `__proto__` safely.
 */
export function stringifyDump(dump: StateDump, indent = "  "): string {
  const entries = Array.from(
    dump.by_relationship_id,
    ([id, state]) =>
      `${indent}${indent}${JSON.stringify(id)}: ${
        JSON.stringify(state, null, indent).replaceAll(
          "\n",
          `\n${indent}${indent}`,
        )
      }`,
  );
  const map = entries.length === 0
    ? "{}"
    : `{\n${entries.join(",\n")}\n${indent}}`;
  return `{\n${indent}"issuer": ${JSON.stringify(dump.issuer)},\n${indent}` +
    `"last_sequence": ${dump.last_sequence},\n${indent}` +
    `"by_relationship_id": ${map}\n}`;
}
