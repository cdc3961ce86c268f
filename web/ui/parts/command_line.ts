/** Commands for people to copy into a POSIX shell. @module */

import { escapeInvisible } from "../libraries/login.ts";

/**
 * A command line, or undefined where an argument holds characters that a
 * terminal would obey or hide: nobody should paste those.
 */
export function commandLine(words: readonly string[]): string | undefined {
  if (words.some((word) => escapeInvisible(word) !== word)) return undefined;
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w.:/@%+,=-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
}
