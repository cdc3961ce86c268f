/** One refresh for all who wait, and none that began too early. @module */

import { SigError } from "@sig/core";

/** Work that waits for its turn or is under way. */
class Run<T> {
  /** What comes of it. */
  readonly result: Promise<T>;
  /** Somebody who waits wants a report; settled when the work begins. */
  wantsReport = false;
  /** When it began; undefined while it waits. */
  startedAt: Date | undefined;

  constructor(begin: (run: Run<T>) => Promise<T>) {
    // Not at once: whatever is asked for in this turn can share the run.
    this.result = Promise.resolve().then(() => begin(this));
  }
}

/** The work: told when it began, and whether somebody wants a report. */
export type Work<T> = (startedAt: Date, wantsReport: boolean) => Promise<T>;

/** How many may wait for one issuer, and for how long. */
export interface WaitingLimits {
  /** How many at a time (1,024). */
  readonly maxWaiting: number;
  /** Milliseconds that each of them waits at most (60,000). */
  readonly maxWaitMs: number;
}

/** The limits unless told. */
export const DEFAULT_WAITING_LIMITS: WaitingLimits = Object.freeze({
  maxWaiting: 1024,
  maxWaitMs: 60_000,
});

/** Options of {@linkcode RefreshQueue}. */
export interface RefreshQueueOptions<T> {
  /** When work begins. */
  readonly now: () => Date;
  /**
   * Whether a result is a failure that others may share; what is thrown always
   * is. `isReported`: nobody among them wants a report which it does not have.
   */
  readonly isFailure?: (result: T, isReported: boolean) => boolean;
  /** {@linkcode DEFAULT_WAITING_LIMITS} unless told. */
  readonly limits?: WaitingLimits | undefined;
}

/**
 * Does one piece of work at a time. At most one more waits for its turn, shared
 * by everybody who needs a result of work that begins after they asked.
 *
 * When the work under way fails, who waits for the next one shares the failure
 * and nothing is begun: whoever asks of a silent host waits for one time limit,
 * not for two. Who asks later begins anew.
 */
export class RefreshQueue<T> {
  readonly #work: Work<T>;
  readonly #options: RefreshQueueOptions<T>;
  readonly #limits: WaitingLimits;
  #running: Run<T> | undefined;
  #waiting: Run<T> | undefined;
  #waiters = 0;

  constructor(work: Work<T>, options: RefreshQueueOptions<T>) {
    this.#work = work;
    this.#options = options;
    this.#limits = options.limits ?? DEFAULT_WAITING_LIMITS;
  }

  /** When the work that is under way began, if any is. */
  get runningSince(): Date | undefined {
    return this.#running?.startedAt;
  }

  /** Whether anything is under way or waits. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting !== undefined;
  }

  /**
   * The result of the work that is under way, or of the next when none is.
   *
   * @throws {SigError} as {@linkcode next}.
   */
  async current(): Promise<T> {
    return await this.#wait(() => this.#running ?? this.#next(false));
  }

  /**
   * The result of work that begins after this call, or the failure of work that
   * was under way.
   *
   * @throws {SigError} `overloaded` when too many wait already, `fetch_timeout`
   * when it takes too long; the work goes on for those who come later.
   */
  async next({ report = false }: { report?: boolean } = {}): Promise<T> {
    return await this.#wait(() => this.#next(report));
  }

  #next(wantsReport: boolean): Run<T> {
    const before = this.#running;
    this.#waiting ??= new Run((run) => this.#begin(run, before));
    this.#waiting.wantsReport ||= wantsReport;
    return this.#waiting;
  }

  async #wait(join: () => Run<T>): Promise<T> {
    const { maxWaiting, maxWaitMs } = this.#limits;
    if (this.#waiters >= maxWaiting) throw tooManyWait(maxWaitMs);
    const { promise: tooLong, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(waitedTooLong(maxWaitMs)), maxWaitMs);
    this.#waiters++;
    try {
      return await Promise.race([join().result, tooLong]);
    } finally {
      this.#waiters--;
      clearTimeout(timer);
    }
  }

  async #begin(run: Run<T>, before: Run<T> | undefined): Promise<T> {
    try {
      const result = await before?.result;
      const { isFailure } = this.#options;
      const isReported = !run.wantsReport || before?.wantsReport === true;
      if (result !== undefined && isFailure?.(result, isReported)) {
        return result;
      }
    } finally {
      this.#waiting = undefined;
    }
    this.#running = run;
    try {
      run.startedAt = this.#options.now();
      return await this.#work(run.startedAt, run.wantsReport);
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

function waitedTooLong(limitMs: number): SigError {
  return new SigError(
    "fetch_timeout",
    `Cannot ask issuer: there was no answer within ${limitMs} ms`,
    {
      context: {
        limit_ms: limitMs,
        hint: "Ask again: what was begun goes on, and its result is kept.",
      },
    },
  );
}
