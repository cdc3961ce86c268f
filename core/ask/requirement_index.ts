/** Which of many requirements a relationship meets (docs/protocol.md §5). @module */

import { meets, type Requirement } from "./requirement.ts";
import type { RelationshipState } from "../event/types.ts";

/**
 * The distinct requirements of a question. A relationship's roles are gone
 * through once, however many of them are asked for: 64 requirements of 10,000
 * roles are 10,000 looks instead of 640,000.
 */
export class RequirementIndex {
  /** Each requirement once. */
  readonly distinct: Requirement[] = [];
  /** For each requirement of the question, its place in `distinct`. */
  readonly places: readonly number[];
  /** The places of roles. */
  readonly #roles = new Map<string, number>();
  /** The places of the other requirements. */
  readonly #others: number[] = [];

  constructor(requirements: readonly Requirement[]) {
    const known = new Map<string, number>();
    this.places = requirements.map((each) => {
      const name = `${each.key}=${each.value}`;
      const place = known.get(name) ?? this.distinct.push(each) - 1;
      if (known.has(name)) return place;
      known.set(name, place);
      if (each.key === "role") this.#roles.set(each.value, place);
      else this.#others.push(place);
      return place;
    });
  }

  /** Indexes in `distinct` of the requirements that are met. */
  metBy(state: RelationshipState): ReadonlySet<number> {
    const met = new Set<number>();
    for (const place of this.#others) {
      if (meets(state, this.distinct[place]!)) met.add(place);
    }
    if (this.#roles.size === 0) return met;
    for (const role of state.roles) {
      const place = this.#roles.get(role);
      if (place !== undefined) met.add(place);
    }
    return met;
  }
}
