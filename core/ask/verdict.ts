/** The verdict of one set of requirements (docs/protocol.md §5). @module */

import type { AnswerLimits, Reason } from "./answer.ts";
import type { Requirement } from "./requirement.ts";
import type {
  EffectiveState,
  EffectiveStatus,
} from "../replay/effective_state.ts";
import { compareInstants, validInstant } from "../text/timestamp.ts";

/** Collects the relationships that meet every requirement of a set. */
export class Verdict {
  /** Indexes of the distinct requirements. */
  readonly needs: readonly number[];
  /** The active relationship that was changed last. */
  match: EffectiveState | undefined;
  /** The reasons why the other relationships are not active, up to a limit. */
  readonly inactive: Reason[] = [];
  /** The number of relationships that are not active. */
  inactiveCount = 0;
  readonly #maxReasons: number;
  /** The earliest start of validity among them. */
  #begins: string | null = null;

  /** Creates a verdict without any relationship. */
  constructor(needs: readonly number[], { maxReasons }: AnswerLimits) {
    this.needs = needs;
    this.#maxReasons = maxReasons ?? Infinity;
  }

  /** Adds a relationship that meets every requirement. */
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

  /**
   * When the verdict may change: an allow ends with its relationship, a deny
   * when a later relationship begins.
   */
  get notAfter(): string | null {
    return this.match ? this.match.state.valid_until : this.#begins;
  }
}

/** Returns the relationship that was changed last. */
export function later(
  a: EffectiveState | undefined,
  b: EffectiveState,
): EffectiveState {
  return a === undefined || b.state.last_sequence > a.state.last_sequence
    ? b
    : a;
}

/** Returns the reason why a relationship is not effective. */
export function statusReason(
  { state, status }: EffectiveState,
  requirement?: Requirement,
): Reason {
  return {
    // An active relationship would be a match, not a reason.
    code: status as Exclude<EffectiveStatus, "active">,
    relationship_id: state.relationship_id,
    sequence: state.last_sequence,
    ...(requirement ? { requirement } : {}),
  };
}
