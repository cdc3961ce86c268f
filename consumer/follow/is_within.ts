/** Time spans that a clock which is set back can't stretch. @module */

/**
 * Whether less than `limitMs` have passed since `from`; never when `from` is
 * not known, or lies ahead: a clock that was set back must not keep anything
 * for ever.
 */
export function isWithin(
  limitMs: number,
  from: Date | undefined,
  now: Date,
): boolean {
  if (from === undefined) return false;
  const elapsedMs = now.getTime() - from.getTime();
  return elapsedMs >= 0 && elapsedMs < limitMs;
}
