// @ts-check
/** Commands for people to copy into a POSIX shell. @module */

import { escapeInvisible } from "./verify.js";

/**
 * A command line, or undefined where an argument holds characters that a
 * terminal would obey or hide: nobody should paste those.
 *
 * @param {readonly string[]} words
 * @returns {string | undefined}
 */
export function commandLine(words) {
  if (words.some((word) => escapeInvisible(word) !== word)) return undefined;
  return words.map(quoted).join(" ");
}

/** @param {string} word */
function quoted(word) {
  return /^[\w.:/@%+,=-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
}
