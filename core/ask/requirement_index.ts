/** Which of many requirements a relationship meets (docs/protocol.md §5). @module */

import { meets, type Requirement } from "./requirement.ts";
import type { RelationshipState } from "../event/types.ts";

/** Roles asked for up to which looking for each is faster than an index. */
const FEW_ROLES = 2;

/** Requirements up to which comparing each is faster than names. */
const FEW_REQUIREMENTS = 8;

/**
 * The distinct requirements of a question. A relationship's roles are gone
 * through once, however many of them are asked for: 64 requirements of 10,000
 * roles are 10,000 looks instead of 640,000.
 */
export class RequirementIndex {
  readonly #distinct: Requirement[] = [];
  /** For each requirement of the question, its place in `distinct`. */
  readonly places: readonly number[];
  /** Which are roles, and their places; by role where there are many. */
  readonly #roles: (readonly [string, number])[] = [];
  readonly #byRole: ReadonlyMap<string, number> | undefined;
  readonly #others: (readonly [Requirement, number])[] = [];
  /** Per distinct requirement: the last look that found it met. */
  readonly #metIn: number[] = [];
  #look = 0;

  constructor(requirements: readonly Requirement[]) {
    const find = requirements.length <= FEW_REQUIREMENTS
      ? among(this.#distinct)
      : byName();
    const places: number[] = [];
    for (const each of requirements) {
      const next = this.#distinct.length;
      const place = find(each, next);
      places.push(place);
      if (place < next) continue;
      this.#distinct.push(each);
      this.#metIn.push(0);
      if (each.key === "role") this.#roles.push([each.value, place]);
      else this.#others.push([each, place]);
    }
    this.places = places;
    if (this.#roles.length > FEW_ROLES) this.#byRole = new Map(this.#roles);
  }

  /** Each requirement once. */
  get distinct(): readonly Requirement[] {
    return this.#distinct;
  }

  /** Indexes in `distinct` of the requirements that are met, each once. */
  metBy(state: RelationshipState): readonly number[] {
    this.#look++;
    const met: number[] = [];
    for (const [requirement, i] of this.#others) {
      if (meets(state, requirement)) met.push(i);
    }
    if (this.#byRole === undefined) {
      for (const [role, i] of this.#roles) {
        if (state.roles.includes(role)) met.push(i);
      }
      return met;
    }
    for (const role of state.roles) {
      const i = this.#byRole.get(role);
      if (i === undefined || this.#metIn[i] === this.#look) continue;
      this.#metIn[i] = this.#look;
      met.push(i);
    }
    return met;
  }
}

/** Finds the place of a requirement, or gives it the next one. */
type FindPlace = (requirement: Requirement, next: number) => number;

function among(known: readonly Requirement[]): FindPlace {
  return ({ key, value }, next) => {
    for (let i = 0; i < next; i++) {
      const each = known[i]!;
      if (each.key === key && each.value === value) return i;
    }
    return next;
  };
}

function byName(): FindPlace {
  const places = new Map<string, number>();
  return ({ key, value }, next) => {
    const name = `${key}=${value}`;
    const known = places.get(name);
    if (known === undefined) places.set(name, next);
    return known ?? next;
  };
}
