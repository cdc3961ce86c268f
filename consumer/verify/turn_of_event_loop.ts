/** Letting others have a turn. @module */

/**
 * One turn of the event loop. A timer takes a millisecond and more, in which
 * this thread does nothing; that serves only who has others waiting for it.
 */
export function turnOfEventLoop(): Promise<void> {
  const { setImmediate = setTimeout } = globalThis as {
    readonly setImmediate?: (callback: () => void) => unknown;
  };
  return new Promise((resolve) => void setImmediate(resolve));
}
