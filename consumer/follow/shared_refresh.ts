/** One refresh for all questions that wait for it. @module */

import { SigError } from "@sig/core";
import { DeadlineOver, withDeadline } from "../store/waiting.ts";

/** Work that waits for its turn or is running. */
class Run<T> {
  /** What comes of it. */
  readonly result: Promise<T>;
  /** When it began; undefined while it waits. */
  startedAt: Date | undefined;

  constructor(begin: (run: Run<T>) => Promise<T>) {
    // Not at once: whatever is asked for in this turn can share the run.
    this.result = Promise.resolve().then(() => begin(this));
    // Nobody may be waiting any more when it fails.
    this.result.catch(() => {});
  }
}

/** How many questions may wait for one issuer, and for how long. */
export interface WaitingLimits {
  /** How many at a time (default: 1,024). */
  readonly maxWaiting: number;
  /** Milliseconds that each of them waits at most (default: 60,000). */
  readonly maxWaitMs: number;
}

/** Options of {@linkcode SharedRefresh}. */
export interface SharedRefreshOptions {
  /** When work begins. */
  readonly now: () => Date;
  /** How many may wait. */
  readonly limits: WaitingLimits;
}

/**
 * Does one piece of work at a time. At most one more waits for its turn, shared
 * by all questions that need a result of work that begins after they came.
 *
 * When the running work fails, the questions that wait for the next one share
 * the failure and nothing is begun: a silent host costs them one time limit, not
 * two. Later questions begin again.
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

  /** When the running work began, if any is running. */
  get runningSince(): Date | undefined {
    return this.#running?.startedAt;
  }

  /** Whether anything is running or waits. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting !== undefined;
  }

  /**
   * The result of the running work, or of the next when none is running.
   *
   * @throws {SigError} as {@linkcode next}.
   */
  async current(): Promise<T> {
    return await this.#wait(() => this.#running ?? this.#next());
  }

  /**
   * The result of work that begins after this call, or the failure of work that
   * was running.
   *
   * @throws {SigError} `overloaded` when too many wait already, `fetch_timeout`
   * when it takes too long; the work continues for later questions.
   */
  async next(): Promise<T> {
    return await this.#wait(() => this.#next());
  }

  #next(): Run<T> {
    const before = this.#running;
    return this.#waiting ??= new Run((run) => this.#begin(run, before));
  }

  async #wait(join: () => Run<T>): Promise<T> {
    const { maxWaiting, maxWaitMs } = this.#options.limits;
    if (this.#waiters >= maxWaiting) throw tooManyWait(maxWaitMs);
    this.#waiters++;
    try {
      return await waitAtMost(maxWaitMs, () => join().result);
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
  return new SigError(
    "overloaded",
    "Cannot ask issuer: too many questions wait for its answer already",
    {
      context: {
        retry_after_seconds: Math.max(1, Math.ceil(maxWaitMs / 1000)),
        hint: "Ask again later; questions about other issuers need not wait.",
      },
    },
  );
}

/**
 * Waits for the work, whose signal is aborted when it takes too long.
 *
 * @throws {SigError} `fetch_timeout`, and what the work throws.
 */
export async function waitAtMost<T>(
  limitMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withDeadline(limitMs, work);
  } catch (error) {
    if (!(error instanceof DeadlineOver)) throw error;
    throw new SigError(
      "fetch_timeout",
      `Cannot ask issuer: there was no answer within ${limitMs} ms`,
      {
        context: {
          limit_ms: limitMs,
          hint: "Ask again: the refresh continues, and its result is kept.",
        },
      },
    );
  }
}
