/** How far a long verification has come, in words. @module */

import type { VerifyProgress } from "@sig/consumer";

/** What the words are made of. */
export interface ReadProgress extends VerifyProgress {
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
  // A server may have told too little.
  const left = Math.max(0, totalBytes - bytes);
  return `${words}, ${describeSeconds(left * seconds / bytes)} left`;
}

function describeSeconds(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.ceil(whole / 60)} min`;
}
