/** Input in messages, made harmless. @module */

import { escapeInvisible } from "./escape_invisible.ts";

/**
 * Input as shown in messages: in quotes, at most 80 characters of it, and with
 * what can't be seen escaped.
 *
 * @example
 * ```ts
 * import { quote } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(quote("a\nb\u202e"), '"a\\nb\\u202e"');
 * ```
 */
export function quote(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return escapeInvisible(JSON.stringify(short));
}
