/** Requests that share one deadline. @module */

/** What a server answers within a deadline, and what it does not. */
export class Requests {
  /** What had no answer in time. */
  readonly unanswered: string[] = [];
  readonly #deadline: AbortSignal;

  /** @param deadline Aborts when the time of all requests is over. */
  constructor(deadline: AbortSignal) {
    this.#deadline = deadline;
  }

  /** An answer; undefined and noted if the deadline comes first. */
  async ask<T>(
    what: string,
    work: (deadline: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> {
    try {
      if (!this.#deadline.aborted) return await work(this.#deadline);
    } catch (error) {
      if (!this.#deadline.aborted) throw error;
    }
    this.unanswered.push(what);
    return undefined;
  }
}
