/** The work that goes on while nobody asks. @module */

/** What {@linkcode runInBackground} does, and how often. */
export interface Background {
  /** Looks at all sessions. */
  readonly watch: () => Promise<unknown>;
  /** Milliseconds from one look to the next. */
  readonly watchEveryMs: number;
  /** Tells applications. */
  readonly deliver: () => Promise<unknown>;
  /** Told of a failure; the work goes on. */
  readonly failed: (error: unknown) => void;
}

/** Milliseconds from one delivery to the next. */
const DELIVER_EVERY_MS = 1_000;

/** Does it until it is stopped; the promise resolves when all has ended. */
export function runInBackground(work: Background): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loops = [
    repeat(work.watchEveryMs, async () => {
      await work.watch();
      await work.deliver();
    }),
    repeat(DELIVER_EVERY_MS, work.deliver),
  ];

  async function repeat(everyMs: number, once: () => Promise<unknown>) {
    while (!signal.aborted) {
      const began = performance.now();
      try {
        await once();
      } catch (error) {
        work.failed(error);
      }
      await pause(everyMs - (performance.now() - began), signal);
    }
  }

  return async () => {
    stopping.abort();
    await Promise.all(loops);
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, Math.max(ms, 10));
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
