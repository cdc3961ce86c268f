/** The verdict on the relationships that meet a question (docs/protocol.md §5). @module */

import type { AnswerLimits, Reason } from "./answer.ts";
import type { Requirement } from "./requirement.ts";
import type {
  EffectiveState,
  EffectiveStatus,
} from "../replay/effective_state.ts";
import { compareInstants, validInstant } from "../text/timestamp.ts";

/** What was seen of the relationships that meet all of some requirements. */
export class Verdict {
  /** Indexes of the requirements, each once. */
  readonly needs: readonly number[];
  /** Of those that are active, the last spoken of. */
  match: EffectiveState | undefined;
  /** Why the others are not active, up to a limit. */
  readonly inactive: Reason[] = [];
  /** How many there are. */
  inactiveCount = 0;
  readonly #maxReasons: number;
  /** The earliest start among them. */
  #begins: string | null = null;

  /** Nothing is seen yet. */
  constructor(needs: readonly number[], { maxReasons }: AnswerLimits) {
    this.needs = needs;
    this.#maxReasons = maxReasons ?? Infinity;
  }

  /** Takes one that meets all of them. */
  add(effective: EffectiveState, isActive: boolean): void {
    if (isActive) {
      this.match = later(this.match, effective);
      return;
    }
    this.inactiveCount++;
    if (this.inactive.length < this.#maxReasons) {
      this.inactive.push(statusReason(effective));
    }
    const { valid_from: from } = effective.state;
    if (effective.status !== "not_yet_valid" || from === null) return;
    if (
      this.#begins === null ||
      compareInstants(validInstant(from), validInstant(this.#begins)) < 0
    ) this.#begins = from;
  }

  /** Allow ends with its relationship; deny may end when a later one begins. */
  get notAfter(): string | null {
    return this.match ? this.match.state.valid_until : this.#begins;
  }
}

/** Of several, the one that the feed spoke of last is named. */
export function later(
  a: EffectiveState | undefined,
  b: EffectiveState,
): EffectiveState {
  return a === undefined || b.state.last_sequence > a.state.last_sequence
    ? b
    : a;
}

/** Why one that would meet it does not. */
export function statusReason(
  { state, status }: EffectiveState,
  requirement?: Requirement,
): Reason {
  return {
    // Never called for an active one: that would be a match.
    code: status as Exclude<EffectiveStatus, "active">,
    relationship_id: state.relationship_id,
    sequence: state.last_sequence,
    ...(requirement ? { requirement } : {}),
  };
}
