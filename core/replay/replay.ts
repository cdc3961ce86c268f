/** Replay of events into a state, and its warnings (docs/protocol.md §4). @module */

import { FeedRules, type ReplayOptions } from "./feed_rules.ts";
import { type FeedHistory, HistoryBuilder } from "./history.ts";
import type {
  RelationshipState,
  SigEvent,
  UnknownEvent,
  Warning,
} from "../event/types.ts";

/** The state of a feed after its last event. */
export interface FeedState {
  /** The issuer's DID. */
  readonly issuer: string;
  /** Sequence of the last event; 0 for an empty feed. */
  readonly last_sequence: number;
  /** The relationships, in the order of their first upserts. */
  readonly by_relationship_id: ReadonlyMap<string, RelationshipState>;
  /** The versions of every relationship, for questions about the past. */
  readonly history: FeedHistory;
}

/** Options of {@linkcode Replay}. */
export interface ReplayStateOptions extends ReplayOptions {
  /**
   * Keeps only the relationships of this subject, or none for null (default:
   * keeps everything). A large feed then takes a fraction of the memory. The
   * state answers questions about that subject and `now` (also as of an event),
   * and throws `TypeError` for anything missing. Do not use `at`: the states of
   * a relationship before it moved to the subject are missing.
   */
  readonly keepOnly?: string | null | undefined;
}

/** Maximum number of warnings kept; further ones are only counted. */
const MAX_WARNINGS = 1_000;

/**
 * A replay in progress, which takes events one by one and does not keep them.
 *
 * @example
 * ```ts
 * import { Replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const replay = new Replay({ issuer: "did:web:acme.example" });
 * assertEquals(replay.state().last_sequence, 0);
 * ```
 */
export class Replay {
  readonly #rules: FeedRules;
  readonly #history: HistoryBuilder;
  readonly #warnings: Warning[] = [];
  #leftOut = 0;
  #voidEvents = 0;
  readonly #isPartial: boolean;

  /** Starts before the first event. */
  constructor(options: ReplayStateOptions = {}) {
    this.#rules = new FeedRules(options);
    this.#history = new HistoryBuilder(options.keepOnly);
    this.#isPartial = options.keepOnly !== undefined;
  }

  /**
   * The first 1,000 warnings, one more with the number of the rest, and before
   * them one with the number of void events.
   */
  get warnings(): readonly Warning[] {
    const leftOut = this.#leftOut;
    const count = this.#voidEvents;
    if (leftOut === 0 && count === 0) return this.#warnings;
    return [
      ...count === 0 ? [] : [eventVoid(count)],
      ...this.#warnings,
      ...leftOut === 0
        ? []
        : [warningsLeftOut(`${leftOut} more about any event`)],
    ];
  }

  /** Sequence of the last applied event. */
  get lastSequence(): number {
    return this.#rules.lastSequence;
  }

  /**
   * Applies the next event, or throws and changes nothing.
   *
   * @param isVoid Whether its key had ended (docs/protocol.md §14.2). Such an
   * event changes nothing but the last sequence.
   * @throws {SigError} as {@linkcode replay}.
   */
  apply(event: SigEvent | UnknownEvent, line?: number, isVoid = false): void {
    const { applies, warnings } = this.#rules.accept(event, isVoid);
    if (isVoid) {
      this.#voidEvents++;
      this.#history.addVoid(event);
      return;
    }
    for (const warning of warnings) this.#warn(warning, event, line);
    this.#history.add(event, applies);
  }

  /**
   * Applies an event of a list with gaps: the events between concern other
   * subjects. Sequences must increase, and each `event_id` must be unique.
   *
   * @throws {SigError} as {@linkcode replay}, but for `sequence_gap`.
   */
  applySparse(event: SigEvent | UnknownEvent, isVoid = false): void {
    if (event.sequence > this.lastSequence) {
      this.#rules.resume(event.sequence - 1);
    }
    this.apply(event, undefined, isVoid);
  }

  #warn(
    { code, detail, sequence }: Warning,
    event: SigEvent | UnknownEvent,
    line: number | undefined,
  ): void {
    if (this.#warnings.length === MAX_WARNINGS) {
      this.#leftOut++;
      return;
    }
    this.#history.warnAt(event);
    // The other members are for writers and not part of an answer.
    this.#warnings.push({
      code,
      detail,
      ...(sequence === undefined ? {} : { sequence }),
      ...(line === undefined ? {} : { line }),
    });
  }

  /**
   * Continues after a sequence: after a rejected event, so that a list of all
   * faults contains it once (the state is not usable then), or after the last
   * event that a sparse list covers.
   */
  resume(lastSequence: number): void {
    this.#rules.resume(lastSequence);
  }

  /**
   * Returns the current state. It does not change when further events are
   * applied: its history is shared and grows, but a question reads it only up
   * to the state's `last_sequence`. The map is built on first access, so a
   * state after few more events does not copy all relationships.
   */
  state(): FeedState {
    const history = this.#history;
    const last = this.#rules.lastSequence;
    const isPartial = this.#isPartial;
    let map: ReadonlyMap<string, RelationshipState> | undefined;
    return {
      issuer: this.#rules.issuer ?? "",
      last_sequence: last,
      get by_relationship_id() {
        if (isPartial) {
          throw new TypeError("Cannot list: not all relationships were kept");
        }
        return map ??= latest(history, last);
      },
      history,
    };
  }
}

/** Returns each relationship after the events up to `last`. */
function latest(
  history: FeedHistory,
  last: number,
): Map<string, RelationshipState> {
  const map = new Map<string, RelationshipState>();
  for (const [id, versions] of history.versions) {
    const version = versions.findLast(({ state }) =>
      state.last_sequence <= last
    );
    if (version !== undefined) map.set(id, version.state);
  }
  return map;
}

/**
 * Replays events in sequence order (docs/protocol.md §4).
 *
 * @example The state after one event
 * ```ts
 * import { replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state } = replay([{
 *   spec_version: "sig/0.1",
 *   event_id: "01",
 *   event_type: "relationship.upsert",
 *   issuer: "did:web:acme.example",
 *   issued_at: "2026-01-01T00:00:00Z",
 *   sequence: 1,
 *   relationship_id: "r1",
 *   subject: "did:web:alice.example",
 *   visibility: "public",
 *   relationship_type: "employee",
 *   status: "active",
 *   roles: ["deploy"],
 *   valid_from: null,
 *   valid_until: null,
 * }]);
 * assertEquals(state.by_relationship_id.get("r1")?.status, "active");
 * ```
 *
 * @throws {SigError} `sequence_gap`, `sequence_out_of_order`,
 * `duplicate_event_id`, `issuer_mismatch`, `too_many_events`, and
 * `revoke_without_upsert` with `unmatchedRevoke: "reject"`.
 */
export function replay(
  events: Iterable<SigEvent | UnknownEvent>,
  options: ReplayOptions = {},
): { readonly state: FeedState; readonly warnings: readonly Warning[] } {
  const run = new Replay(options);
  for (const event of events) run.apply(event);
  return { state: run.state(), warnings: run.warnings };
}

/**
 * Returns the state after one more event, and leaves the given state unchanged.
 * It copies the state; for many events use {@linkcode Replay}, which also
 * detects a repeated `event_id`.
 *
 * @example
 * ```ts
 * import { applyEvent, replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const before = replay([], { issuer: "did:web:acme.example" }).state;
 * const after = applyEvent(before, {
 *   spec_version: "sig/0.1",
 *   event_id: "01",
 *   event_type: "relationship.upsert",
 *   issuer: "did:web:acme.example",
 *   issued_at: "2026-01-01T00:00:00Z",
 *   sequence: 1,
 *   relationship_id: "r1",
 *   subject: "did:web:alice.example",
 *   visibility: "public",
 *   relationship_type: "employee",
 *   status: "active",
 *   roles: ["deploy"],
 *   valid_from: null,
 *   valid_until: null,
 * });
 * assertEquals(after.by_relationship_id.get("r1")?.status, "active");
 * assertEquals(before.by_relationship_id.size, 0);
 * ```
 *
 * @throws {SigError} `issuer_mismatch`, `sequence_gap`,
 * `sequence_out_of_order`, and `revoke_without_upsert` for a revoke without an
 * earlier upsert.
 */
export function applyEvent(state: FeedState, event: SigEvent): FeedState {
  if (!(state.history instanceof HistoryBuilder)) {
    throw new TypeError("Cannot apply event: the state must come from replay");
  }
  const rules = new FeedRules({
    ...(state.issuer === "" ? {} : { issuer: state.issuer }),
  });
  rules.resume(state.last_sequence);
  rules.accept(event);
  const history = state.history.until(state.last_sequence);
  history.add(event, true);
  return {
    issuer: event.issuer,
    last_sequence: event.sequence,
    by_relationship_id: latest(history, event.sequence),
    history,
  };
}

/**
 * Returns the subject that identifies a person: the root of the keys that
 * `metadata` of upserts links as `same_person_as` (docs/protocol.md §4.1).
 *
 * @example
 * ```ts
 * import { personOf, replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state } = replay([], { issuer: "did:web:acme.example" });
 * const subject = "did:web:alice.example";
 * assertEquals(personOf(state, subject), subject);
 * ```
 *
 * @throws {TypeError} if the state contains only some of the events, because
 * any of them may contain a link.
 */
export function personOf(state: FeedState, subject: string): string {
  return state.history.personOf(subject, state.last_sequence);
}

/** Maximum number of warnings in an answer about a subject. */
export const MAX_ANSWER_WARNINGS = 10;

/**
 * Returns the warnings that concern a subject or the feed as a whole: at most
 * 10, of which the last may be `warnings_left_out` with the number of the rest.
 * Warnings about other subjects are only in the report on the feed.
 *
 * @example
 * ```ts
 * import { replay, warningsAbout } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state, warnings } = replay([]);
 * const subject = "did:web:alice.example";
 * assertEquals(warningsAbout(subject, warnings, state.history), []);
 * ```
 */
export function warningsAbout(
  subject: string,
  warnings: readonly Warning[],
  history: FeedHistory,
): readonly Warning[] {
  // A new array, because frozen arrays are slow to serialize in V8.
  if (warnings.length === 0) return [];
  const concerned = warnings.filter(({ code, sequence }) =>
    code !== "warnings_left_out" &&
    (sequence === undefined ||
      history.subjectsWarnedAt(sequence).includes(subject))
  );
  // These always count as concerning the feed, because their subjects are not
  // known.
  const uncounted = warnings.filter(({ code }) => code === "warnings_left_out");
  const maxShown = MAX_ANSWER_WARNINGS - uncounted.length;
  if (concerned.length <= maxShown) return [...concerned, ...uncounted];
  const shown = concerned.slice(0, maxShown - 1);
  const hidden = warningsLeftOut(
    `${concerned.length - shown.length} more about the subject or the feed`,
  );
  return [...shown, hidden, ...uncounted];
}

/** Creates the warning that other warnings were left out. */
function warningsLeftOut(what: string): Warning {
  return { code: "warnings_left_out", detail: `left out: ${what}` };
}

/** Creates the warning that events are void (docs/protocol.md §14.2). */
function eventVoid(count: number): Warning {
  const [events, were, their] = count === 1
    ? ["1 event", "was", "its"]
    : [`${count} events`, "were", "their"];
  return {
    code: "event_void",
    detail: `${events} ${were} not applied: ${their} key had ended`,
  };
}
