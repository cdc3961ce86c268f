/** Input in messages, made harmless (SECURITY, S7). @module */

/** Control characters (C0, DEL, C1), and marks that reorder or hide text. */
const INVISIBLE =
  // deno-lint-ignore no-control-regex -- control characters are the point
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Text from a feed or a user, safe for a terminal or a log: control characters
 * and marks that reorder or hide text are shown as `\uXXXX`, not obeyed.
 *
 * @example
 * ```ts
 * import { escapeInvisible } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(escapeInvisible("a\u202eb"), "a\\u202eb");
 * ```
 */
export function escapeInvisible(text: string): string {
  return text.replace(
    INVISIBLE,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

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
  return escapeInvisible(JSON.stringify(short));
}
