/** News of long work, on terminals only. @module */

import type { Call } from "./command.ts";

/** Shows how far a work has come. */
export interface Progress {
  /** Tells how much is done; shown now and then. */
  readonly show: (done: number) => void;
  /** Takes the news away. */
  readonly wipe: () => void;
}

/** News each time that so much more is done; shorter work needs none. */
export function createProgress(
  call: Call,
  every: number,
  words: (done: number) => string,
): Progress | undefined {
  const { io } = call;
  if (call.format === "json" || !io.isTerminal("stderr")) return undefined;
  let next = every;
  return {
    show(done) {
      if (done < next) return;
      next = done + every;
      io.stderr(`\r${words(done)}\x1b[K`);
    },
    wipe() {
      if (next > every) io.stderr("\r\x1b[K");
    },
  };
}
