/** What nobody can see in a text, made visible. @module */

import { isVisibleJoiner } from "./visible_joiner.ts";

/**
 * Controls, marks that hide, join or reorder text, selectors, tags, fillers,
 * blanks that are no space, and half characters. Signs of numbers and verses
 * (U+0600…) are format characters by their category, but drawn.
 */
const HIDDEN = String
  .raw`[[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2800\ufffc\u{16fe4}\u{1d159}]--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]`;

const ANY_HIDDEN = new RegExp(HIDDEN, "v");
const EACH_HIDDEN = new RegExp(HIDDEN, "gv");
const EMOJI_PARTS = /[\u200d\ufe0f\u{e0020}-\u{e007f}]/u;

/**
 * Text from a feed or a user, safe for a terminal, a log or a page: what can't
 * be seen is shown as `\uXXXX` (two of them beyond U+FFFF), not obeyed. In a
 * text of JSON the escapes mean the same. That are control characters, marks
 * that reorder or hide text, soft hyphens, variation selectors, tags, fillers,
 * and halves of characters.
 *
 * Joiners, selectors and tags stay where they can be seen: inside the emoji
 * that Unicode recommends, between Arabic letters that would join without, and
 * behind a virama of an Indic script. Everywhere else they could make two
 * different texts look the same.
 *
 * @example
 * ```ts
 * import { escapeInvisible } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(escapeInvisible("a\u202eb\u200dc"), "a\\u202eb\\u200dc");
 * assertEquals(escapeInvisible("👩🏽‍💻 می‌خواهم"), "👩🏽‍💻 می‌خواهم");
 * ```
 */
export function escapeInvisible(text: string): string {
  if (!ANY_HIDDEN.test(text)) return text;
  if (!EMOJI_PARTS.test(text)) return escapeBetweenEmoji(text);
  // No joiner, selector or tag in these is without effect. Written here, since
  // making this expression takes 50 ms, which few processes need to spend.
  return text.split(/(\p{RGI_Emoji})/v)
    .map((part, i) => i % 2 === 1 ? part : escapeBetweenEmoji(part))
    .join("");
}

function escapeBetweenEmoji(text: string): string {
  return text.replace(
    EACH_HIDDEN,
    (found, at: number) =>
      isVisibleJoiner(text, at) ? found : escapeUnits(found),
  );
}

function escapeUnits(character: string): string {
  let escaped = "";
  for (let i = 0; i < character.length; i++) {
    const unit = character.charCodeAt(i).toString(16).padStart(4, "0");
    escaped += `\\u${unit}`;
  }
  return escaped;
}
