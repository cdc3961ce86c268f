/** Lists that their types hold to be whole. @module */

/**
 * The words of a closed list, in their order. A word that the type has and the
 * list lacks does not compile, and neither does one that the type lacks.
 */
export function closedList<T extends string>(
  words: Readonly<Record<T, true>>,
): readonly T[] {
  return Object.freeze(Object.keys(words) as T[]);
}
