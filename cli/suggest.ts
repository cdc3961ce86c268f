/** "Did you mean …?" @module */

/** The known word that is nearest to a mistyped one, if any is near. */
export function suggest(
  word: string,
  known: readonly string[],
): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  let best: string | undefined;
  let distance = most + 1;
  for (const each of known) {
    const found = editDistance(word, each);
    if (found < distance) [best, distance] = [each, found];
  }
  return best;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
