/** "Did you mean …?" @module */

/**
 * Returns the known word that is nearest to a misspelled word, if any is near.
 *
 * @example
 * ```ts
 * import { suggest } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(suggest("isuer", ["issuer", "subject"]), "issuer");
 * assertEquals(suggest("xyz", ["issuer", "subject"]), undefined);
 * ```
 */
export function suggest(
  word: string,
  known: readonly string[],
): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let distance = most + 1;
  for (const each of known) {
    // The difference in length is a lower bound of the distance. It is checked
    // first because words come from requests: the table below must stay small.
    if (Math.abs(word.length - each.length) >= distance) continue;
    const found = editDistance(word, each);
    if (found < distance) [best, distance] = [each, found];
  }
  return best;
}

/** Returns the number of letters to add, drop, change or swap. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] &&
        a[i - 2] === b[j - 1];
      const swap = isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(change, swap, row[j]! + 1, next[j - 1]! + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length]!;
}
