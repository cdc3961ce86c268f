/** What proxies were answered a moment ago. @module */

/** Milliseconds for which the same is answered. */
export const RECENT_MS = 1_000;

/** Answers of one moment at most: with more of them it starts anew. */
const MAX_RECENT = 10_000;

/** Values that are forgotten all at once, a moment after the first of them. */
export interface RecentAnswers<T> {
  /** The value of this moment. */
  get(key: string): T | undefined;
  /** Keeps a value for the rest of the moment. */
  set(key: string, value: T): void;
}

/** Makes them; what is over goes with the first question after it. */
export function createRecentAnswers<T>(now: () => Date): RecentAnswers<T> {
  let beganMs = -Infinity;
  let answers = new Map<string, T>();
  const current = (): Map<string, T> => {
    const age = now().getTime() - beganMs;
    // A clock that was set back makes nothing young.
    if (age >= 0 && age < RECENT_MS) return answers;
    beganMs = now().getTime();
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
