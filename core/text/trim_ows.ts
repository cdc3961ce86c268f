/** White space around header values (RFC 9110 §5.6.3). @module */

/**
 * Removes SP and HTAB at both ends. `trim()` also removes U+00A0 and 20 other
 * characters, which other programs treat as part of the value.
 */
export function trimOws(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && isBlank(text.charCodeAt(from))) from++;
  while (to > from && isBlank(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09;
}
