/** Which of many requirements a relationship meets (PROTOCOL §5). @module */

import { meets, type Requirement } from "./requirement.ts";
import type { RelationshipState } from "../event/types.ts";

/** Roles asked for up to which looking for each is faster than an index. */
const FEW_ROLES = 2;

/**
 * The distinct requirements of a question. A relationship's roles are gone
 * through once, however many of them are asked for: 64 requirements of 10,000
 * roles are 10,000 looks instead of 640,000.
 */
export class RequirementIndex {
  /** Each requirement once. */
  readonly distinct: readonly Requirement[];
  /** For each requirement of the question, its place in `distinct`. */
  readonly places: readonly number[];
  readonly #roles = new Map<string, number>();
  readonly #others: readonly (readonly [Requirement, number])[];
  /** Per distinct requirement: the last look that found it met. */
  readonly #metIn: number[];
  #look = 0;

  constructor(requirements: readonly Requirement[]) {
    const distinct = new Map<string, number>();
    const kept: Requirement[] = [];
    this.places = requirements.map((each) => {
      const name = `${each.key}=${each.value}`;
      const known = distinct.get(name);
      if (known !== undefined) return known;
      distinct.set(name, kept.length);
      return kept.push(each) - 1;
    });
    this.distinct = kept;
    const others: [Requirement, number][] = [];
    for (const [i, each] of kept.entries()) {
      if (each.key === "role") this.#roles.set(each.value, i);
      else others.push([each, i]);
    }
    this.#others = others;
    this.#metIn = kept.map(() => 0);
  }

  /** Places in `distinct` of what the relationship meets, each once. */
  metBy(state: RelationshipState): readonly number[] {
    this.#look++;
    const met: number[] = [];
    for (const [requirement, i] of this.#others) {
      if (meets(state, requirement)) met.push(i);
    }
    if (this.#roles.size <= FEW_ROLES) {
      for (const [role, i] of this.#roles) {
        if (state.roles.includes(role)) met.push(i);
      }
      return met;
    }
    for (const role of state.roles) {
      const i = this.#roles.get(role);
      if (i === undefined || this.#metIn[i] === this.#look) continue;
      this.#metIn[i] = this.#look;
      met.push(i);
    }
    return met;
  }
}
