/** Input in messages, made harmless (SECURITY, S7). @module */

/**
 * Input as shown in messages: in quotes, at most 80 characters of it, and with
 * control characters escaped.
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
  return JSON.stringify(short).replace(
    // Bidirectional and other invisible controls can disguise a message.
    /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
