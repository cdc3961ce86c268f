/** One refresh for all who wait, and none that began too early. @module */

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

/**
 * Does one piece of work at a time. At most one more waits for its turn, shared
 * by everybody who needs a result of work that begins after they asked.
 */
export class RefreshQueue<T> {
  readonly #work: Work<T>;
  readonly #now: () => Date;
  #running: Run<T> | undefined;
  #waiting: Run<T> | undefined;

  constructor(work: Work<T>, now: () => Date) {
    this.#work = work;
    this.#now = now;
  }

  /** The work that is under way, if any. */
  get running():
    | { readonly startedAt: Date; readonly result: Promise<T> }
    | undefined {
    const run = this.#running;
    if (run?.startedAt === undefined) return undefined;
    return { startedAt: run.startedAt, result: run.result };
  }

  /** Whether anything is under way or waits. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting !== undefined;
  }

  /** The result of work that begins after this call. */
  next({ report = false }: { report?: boolean } = {}): Promise<T> {
    const before = this.#running?.result;
    this.#waiting ??= new Run((run) => this.#begin(run, before));
    this.#waiting.wantsReport ||= report;
    return this.#waiting.result;
  }

  async #begin(run: Run<T>, before: Promise<T> | undefined): Promise<T> {
    // What became of it is told to those who wait for it.
    await before?.catch(() => {});
    this.#waiting = undefined;
    this.#running = run;
    try {
      run.startedAt = this.#now();
      return await this.#work(run.startedAt, run.wantsReport);
    } finally {
      this.#running = undefined;
    }
  }
}
