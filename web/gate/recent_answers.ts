/** What proxies were answered a moment ago. @module */

/** Milliseconds for which the same is answered, at most. */
export const RECENT_MS = 1_000;

/** Answers of one moment at most: with more of them it starts anew. */
const MAX_RECENT = 10_000;

/** Values that are forgotten all at once, with the moment that they are of. */
export interface RecentAnswers<T> {
  /** The value of this moment. */
  get(key: string): T | undefined;
  /** Keeps a value for the rest of the moment. */
  set(key: string, value: T): void;
}

/**
 * Makes them; what is over goes with the first question after it.
 *
 * A moment is a second of the clock: a relationship that ends with one, as
 * nearly all do, is not answered for after its end.
 */
export function createRecentAnswers<T>(now: () => Date): RecentAnswers<T> {
  let moment = NaN;
  let answers = new Map<string, T>();
  const current = (): Map<string, T> => {
    const its = Math.floor(now().getTime() / RECENT_MS);
    if (its === moment) return answers;
    moment = its;
    return answers = new Map();
  };
  return {
    get: (key) => current().get(key),
    set(key, value) {
      const answers = current();
      if (answers.size >= MAX_RECENT) answers.clear();
      answers.set(key, value);
    },
  };
}
