/** Text in lines of a terminal. @module */

import { displayWidth } from "./display_width.ts";

/** Words, those between single blanks of a text, with a limit on a line's width. */
export function wrap(
  text: string | readonly string[],
  width: number,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of typeof text === "string" ? text.split(" ") : text) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}
