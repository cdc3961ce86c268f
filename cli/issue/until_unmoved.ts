/** Work that looks at the feed first and fits no other. @module */

import { isSigError } from "@sig/core";

/** Other writers may come in between so many times. */
const ATTEMPTS = 5;

/** Looks and appends again while somebody else has appended in between. */
export async function untilUnmoved<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isSigError(error, "plan_outdated") || attempt === ATTEMPTS) {
        throw error;
      }
    }
  }
}
