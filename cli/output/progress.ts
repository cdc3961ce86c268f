/** The progress of long work, on terminals only. @module */

import type { VerifyProgress } from "@sig/consumer";
import type { Output } from "./write.ts";

/** News each time that so much more is done; shorter work needs none. */
export function createProgress(
  call: Output,
  every: number,
  words: (done: number) => string,
) {
  const { io } = call;
  if (call.format === "json" || !io.isTerminal("stderr")) return undefined;
  let next = every;
  return {
    show(done: number): void {
      if (done < next) return;
      next = done + every;
      io.stderr(`\r${words(done)}\x1b[K`);
    },
    wipe(): void {
      if (next > every) io.stderr("\r\x1b[K");
    },
  };
}

/** What the words are made of. */
interface ReadProgress extends VerifyProgress {
  /** Bytes read. */
  readonly bytes: number;
  /** Milliseconds since reading began. */
  readonly elapsedMs: number;
}

/** Events, events a second, and the time left where the length is known. */
export function describeProgress(
  { bytes, events, totalBytes, elapsedMs }: ReadProgress,
): string {
  const seconds = Math.max(elapsedMs, 1) / 1000;
  const rate = Math.round(events / seconds);
  const words = `verified ${events} events, ${rate}/s`;
  if (totalBytes === undefined || bytes === 0) {
    return `${words}, ${Math.floor(bytes / 1024 / 1024)} MiB read`;
  }
  // A server may have announced too few bytes.
  const left = Math.max(0, totalBytes - bytes);
  return `${words}, ${describeSeconds(left * seconds / bytes)} left`;
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.ceil(whole / 60)} min`;
}
