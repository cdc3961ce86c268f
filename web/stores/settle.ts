/** Stores in memory answer with promises, as all stores do. @module */

/**
 * A promise of what a function gives or throws now. The work is done when this
 * returns, so nothing can come in between.
 */
export function settle<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}
