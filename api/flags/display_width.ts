/** How wide a terminal shows a text. @module */

/** Drawn over two columns: East Asian scripts and forms, and emoji. */
const WIDE =
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\p{Emoji_Presentation}\u3000-\u303e\uff01-\uff60\uffe0-\uffe6]|\ufe0f/u;
const PLAIN = /^[\x20-\x7e]*$/;

/**
 * Columns that a terminal shows a text in, one or two for each character that
 * a reader would count. Controls have none: escape them first.
 */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}
