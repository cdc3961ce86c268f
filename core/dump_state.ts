/** A state as JSON, now or then (PROTOCOL §4, §5). @module */

import { SigError } from "./error.ts";
import { resolveMoment, type TimeQuestion } from "./moment.ts";
import type { FeedState } from "./replay.ts";
import {
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  standingOf,
} from "./standing.ts";
import type { RelationshipState } from "./types.ts";

/** Which part of a state. */
export interface DumpStateOptions extends TimeQuestion {
  /** Only relationships about this subject. */
  readonly subject?: string | undefined;
  /** Only relationships that come to this at that time. */
  readonly status?: string | undefined;
}

/** A state, or a part of it, with its keys sorted. */
export interface StateDump {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event that was looked at. */
  readonly last_sequence: number;
  /** Sorted by relationship_id, by code units. */
  readonly by_relationship_id: ReadonlyMap<string, RelationshipState>;
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
  const { subject } = options;
  const status = parseStatus(options.status);
  const moment = resolveMoment(state, options);
  const ids = subject === undefined
    ? state.history.versions.keys()
    : state.history.relationshipsOf(subject);
  const found = new Map<string, RelationshipState>();
  for (const id of [...ids].sort(byCodeUnits)) {
    const standing = standingOf(state.history, id, moment);
    if (!standing?.known) continue;
    if (subject !== undefined && standing.state.subject !== subject) continue;
    if (status !== undefined && standing.status !== status) continue;
    found.set(id, standing.state);
  }
  return {
    issuer: state.issuer,
    last_sequence: moment.events,
    by_relationship_id: found,
  };
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

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
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
