/** A state as JSON, now or then (docs/protocol.md §4, §5). @module */

import { SigError } from "../errors/error.ts";
import {
  parseTime,
  resolveTime,
  type TimeQuestion,
} from "./evaluation_time.ts";
import type { FeedState } from "../replay/replay.ts";
import {
  EFFECTIVE_STATUSES,
  effectiveStateAt,
  type EffectiveStatus,
} from "../replay/effective_state.ts";
import { runSteps, STEP_UNITS, type Steps } from "../text/steps.ts";
import type { RelationshipState } from "../event/types.ts";

/** Which part of a state. */
export interface DumpStateOptions extends TimeQuestion {
  /** Only relationships about this subject. */
  readonly subject?: string | undefined;
  /** Only relationships with this effective status at that time. */
  readonly status?: string | undefined;
}

/** Which relationships of a state. */
export interface StatePartOptions extends DumpStateOptions {
  /** Begin after this relationship (default: at the first one). */
  readonly after?: string | undefined;
  /** Maximum number of relationships (default: all). */
  readonly limit?: number | undefined;
  /**
   * Characters of their texts at most, roughly, but one relationship at least;
   * (default: any number).
   */
  readonly maxLength?: number | undefined;
}

/** Some of a state's relationships, in order. */
export interface StatePart {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /** By relationship_id, by code units. */
  readonly entries: readonly (readonly [string, RelationshipState])[];
  /** The effective status of each at that time, in the same order. */
  readonly statuses: readonly EffectiveStatus[];
  /** Whether more would follow. */
  readonly hasMore: boolean;
  /** Characters of their texts, roughly. */
  readonly length: number;
}

/** A state, or a part of it, with its keys sorted. */
export interface StateDump {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /** Sorted by relationship_id, by code units. */
  readonly by_relationship_id: ReadonlyMap<string, RelationshipState>;
  /** The effective status of each at that time; not part of the JSON text. */
  readonly statuses: ReadonlyMap<string, EffectiveStatus>;
}

/**
 * The state, or what of it was true or known at a time, filtered on request.
 * With `at`, relationships that had neither been issued nor begun by then are
 * left out.
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
  const { issuer, last_sequence, entries, statuses } = runSteps(
    walkState(state, options),
  );
  return {
    issuer,
    last_sequence,
    by_relationship_id: new Map(entries),
    statuses: new Map(entries.map(([id], at) => [id, statuses[at]!])),
  };
}

/** Characters of a state's names and fixed members, roughly. */
const STATE_LENGTH = 300;
/** Relationships of a subject up to which they are sorted by themselves. */
const FEW = 256;

/**
 * {@linkcode dumpState} from one relationship on, in steps: a page costs as much
 * as it goes past, once the state's identifiers are sorted.
 *
 * @throws {SigError} as {@linkcode dumpState}, at the first step.
 */
export function* walkState(
  state: FeedState,
  options: StatePartOptions,
): Steps<StatePart> {
  const { subject, after, limit = Infinity, maxLength = Infinity } = options;
  const status = parseStatus(options.status);
  const time = resolveTime(state, parseTime(options), options.now);
  const ids = yield* sortedIds(state, subject);
  const entries: [string, RelationshipState][] = [];
  const statuses: EffectiveStatus[] = [];
  let hasMore = false;
  let length = 0;
  let units = 0;
  for (let i = after === undefined ? 0 : firstAfter(ids, after);; i++) {
    const id = ids[i];
    if (id === undefined) break;
    if (units >= STEP_UNITS) {
      units = 0;
      yield;
    }
    units += 1 + (state.history.versions.get(id)!.length >> 3);
    const effective = effectiveStateAt(state.history, id, time);
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
    entries.push([id, effective.state]);
    length = longer;
    statuses.push(effective.status);
  }
  return {
    issuer: state.issuer,
    last_sequence: time.events,
    entries,
    statuses,
    hasMore,
    length,
  };
}

/** May name relationships of others, and of later events. */
function* sortedIds(
  { history }: FeedState,
  subject: string | undefined,
): Steps<readonly string[]> {
  if (subject === undefined) return yield* history.sortedIds();
  const ids = history.relationshipsOf(subject);
  return ids.size > FEW
    ? yield* history.sortedIds()
    // Without a comparison of its own: by code units.
    : [...ids].sort();
}

/** The index of the first identifier after another one, by bisection. */
function firstAfter(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle]! > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

function parseStatus(status: string | undefined): EffectiveStatus | undefined {
  const known = EFFECTIVE_STATUSES.find((each) => each === status);
  if (known !== undefined || status === undefined) return known;
  throw new SigError(
    "invalid_request",
    `Cannot filter: status must be one of ${EFFECTIVE_STATUSES.join(", ")}`,
    { context: { pointer: "/status" } },
  );
}

/**
 * A dump as JSON text. Written member by member: a JavaScript object would put
 * identifiers such as "10" first, and could not hold `__proto__` safely.
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
