/** Shares one refresh between all questions that wait for it. @module */

import { SigError } from "@sig/core";
import { endingAt } from "./back_off.ts";

/** Work that is waiting or running. */
class Run<T> {
  /** The result of the work. */
  readonly result: Promise<T>;
  /** When the work began; undefined while it waits. */
  startedAt: Date | undefined;

  constructor(begin: (run: Run<T>) => Promise<T>) {
    // Starts in a microtask, so that all questions of this turn can share the
    // run.
    this.result = Promise.resolve().then(() => begin(this));
  }
}

/** Limits on questions that wait for one issuer. */
export interface WaitingLimits {
  /** Maximum number of waiting questions (default: 1,024). */
  readonly maxWaiting: number;
  /** Maximum wait of each question in milliseconds (default: 60,000). */
  readonly maxWaitMs: number;
}

/** Options of {@linkcode SharedRefresh}. */
export interface SharedRefreshOptions {
  readonly now: () => Date;
  readonly limits: WaitingLimits;
}

/**
 * Runs one refresh at a time. At most one more waits, shared by all questions
 * that need a refresh that begins after their arrival.
 *
 * If the running refresh fails, the questions that wait for the next one share
 * the failure, and no refresh starts: a silent host costs them one timeout, not
 * two. Later questions start again.
 */
export class SharedRefresh<T> {
  readonly #work: (startedAt: Date) => Promise<T>;
  readonly #options: SharedRefreshOptions;
  #running: Run<T> | undefined;
  #waiting: Run<T> | undefined;
  #waiters = 0;

  constructor(
    work: (startedAt: Date) => Promise<T>,
    options: SharedRefreshOptions,
  ) {
    this.#work = work;
    this.#options = options;
  }

  /** When the running work began; undefined if none is running. */
  get runningSince(): Date | undefined {
    return this.#running?.startedAt;
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting !== undefined;
  }

  /**
   * Returns the result of work that begins after this call, or throws the error
   * of the running work.
   *
   * @param mayShare Whether the result of the running work suffices.
   * @param signal Ends the wait with its reason; the work continues for later
   * questions.
   * @throws {SigError} `overloaded` if too many questions wait.
   */
  async run(mayShare: boolean, signal?: AbortSignal): Promise<T> {
    const { maxWaiting, maxWaitMs } = this.#options.limits;
    if (this.#waiters >= maxWaiting) throw tooManyWait(maxWaitMs);
    this.#waiters++;
    try {
      const before = this.#running;
      const run = mayShare && before ||
        (this.#waiting ??= new Run((run) => this.#begin(run, before)));
      return await endingAt(signal, run.result);
    } finally {
      this.#waiters--;
    }
  }

  async #begin(run: Run<T>, before: Run<T> | undefined): Promise<T> {
    try {
      await before?.result;
    } finally {
      this.#waiting = undefined;
    }
    this.#running = run;
    try {
      run.startedAt = this.#options.now();
      return await this.#work(run.startedAt);
    } finally {
      this.#running = undefined;
    }
  }
}

function tooManyWait(maxWaitMs: number): SigError {
  return new SigError("overloaded", {
    action: "ask issuer",
    reason: "too many questions wait for its answer already",
    context: {
      retry_after_seconds: Math.max(1, Math.ceil(maxWaitMs / 1000)),
      hint: "Ask again later; questions about other issuers need not wait.",
    },
  });
}
