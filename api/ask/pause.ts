/** Letting others in between the parts of one request. @module */

/** Milliseconds of a request's work before others are let in. */
const SLICE_MS = 10;

/**
 * Makes what is awaited before each part of a request that has several. Before
 * the first part as well: many such requests may come in one turn of the event
 * loop, and must not have a whole slice each.
 */
export function createPause(
  breathe: () => Promise<void>,
): () => Promise<void> {
  let sliceBegan = -Infinity;
  return async () => {
    if (performance.now() - sliceBegan <= SLICE_MS) return;
    await breathe();
    sliceBegan = performance.now();
  };
}
