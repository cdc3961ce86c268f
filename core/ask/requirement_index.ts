/** Matches relationships against requirements (docs/protocol.md §5). @module */

import { meets, type Requirement } from "./requirement.ts";
import type { RelationshipState } from "../event/types.ts";

/**
 * The distinct requirements of questions. A relationship's roles are read once
 * for all of them: 64 requirements and 10,000 roles take 10,000 lookups instead
 * of 640,000 comparisons.
 */
export class RequirementIndex {
  /** Each requirement once. */
  readonly distinct: Requirement[] = [];
  /** For each requirement of the questions, its index in `distinct`. */
  readonly indexes: readonly number[];
  /** Indexes of the requirements of roles, by role. */
  readonly #roles = new Map<string, number>();
  /** Indexes of all other requirements. */
  readonly #others: number[] = [];

  constructor(requirements: readonly Requirement[]) {
    const known = new Map<string, number>();
    this.indexes = requirements.map((each) => {
      const name = `${each.key}=${each.value}`;
      const index = known.get(name) ?? this.distinct.push(each) - 1;
      if (known.has(name)) return index;
      known.set(name, index);
      if (each.key === "role") this.#roles.set(each.value, index);
      else this.#others.push(index);
      return index;
    });
  }

  /** Returns the indexes in `distinct` that a relationship meets. */
  metBy(state: RelationshipState): ReadonlySet<number> {
    const met = new Set<number>();
    for (const index of this.#others) {
      if (meets(state, this.distinct[index]!)) met.add(index);
    }
    if (this.#roles.size === 0) return met;
    for (const role of state.roles) {
      const index = this.#roles.get(role);
      if (index !== undefined) met.add(index);
    }
    return met;
  }
}
