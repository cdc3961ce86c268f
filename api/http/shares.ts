/** Something of which there is so much, and so much for each. @module */

/** How much there is. */
export interface SharesOptions {
  /** Units in all; what a unit is, bytes or requests, is the caller's. */
  readonly total: number;
  /** Units for each owner at most, so that one can't take all. */
  readonly each: number;
}

/**
 * Counts what is taken by whom. Nobody gets more than their share, so that one
 * who takes without end leaves the rest to others.
 *
 * @example
 * ```ts
 * import { Shares } from "./shares.ts";
 * import { assert } from "@std/assert";
 *
 * const shares = new Shares({ total: 3, each: 2 });
 * assert(shares.take("192.0.2.1", 2));
 * assert(!shares.take("192.0.2.1"));
 * assert(shares.take("192.0.2.2"));
 * shares.giveBack("192.0.2.1", 2);
 * ```
 */
export class Shares {
  readonly #options: SharesOptions;
  readonly #taken = new Map<string, number>();
  #sum = 0;

  /** Nothing is taken yet. */
  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /**
   * Takes so much, or nothing: false when there is not so much left.
   *
   * @param each Another bound for this owner.
   */
  take(owner: string, amount = 1, each: number = this.#options.each): boolean {
    const { total } = this.#options;
    const own = (this.#taken.get(owner) ?? 0) + amount;
    if (own > each || this.#sum + amount > total) return false;
    this.add(owner, amount);
    return true;
  }

  /** Takes what somebody has already, whatever is left. */
  add(owner: string, amount: number): void {
    this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + amount);
    this.#sum += amount;
  }

  /** Gives back what was taken. */
  giveBack(owner: string, amount = 1): void {
    const left = (this.#taken.get(owner) ?? 0) - amount;
    // Owners are named by strangers: those who hold nothing are forgotten.
    if (left > 0) this.#taken.set(owner, left);
    else this.#taken.delete(owner);
    this.#sum -= amount;
  }
}
