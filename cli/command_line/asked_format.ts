/** The format of errors before the command line is understood. @module */

import type { Format } from "./command.ts";

/** The `--format` among the words, if it is there and says what can be done. */
export function askedFormat(words: readonly string[]): Format | undefined {
  const at = words.findIndex((word) => /^--format(?:=|$)/.test(word));
  const value = words[at]?.split("=")[1] ?? words[at + 1];
  return at >= 0 && (value === "json" || value === "text") ? value : undefined;
}
