/** Escapes invisible characters in texts. @module */

/**
 * Invisible characters: controls; marks that hide, join or reorder text;
 * selectors; tags; fillers; blanks other than spaces; lone surrogates. The
 * signs of numbers and verses (U+0600…) are format characters by category, but
 * visible.
 */
const HIDDEN = /* @__PURE__ */ String
  .raw`[[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u2800\ufffc\u{16fe4}\u{1d159}]--[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]]`;

const ANY_HIDDEN = /* @__PURE__ */ new RegExp(HIDDEN, "v");
const EACH_HIDDEN = /* @__PURE__ */ new RegExp(HIDDEN, "gv");
const EMOJI_PARTS = /[\u200d\ufe0f\u{e0020}-\u{e007f}]/u;

/**
 * Makes a text from a feed or a user safe for a terminal, a log or a page:
 * invisible characters become `\uXXXX` (two escapes beyond U+FFFF). In JSON
 * text, the escapes have the same meaning. Invisible are control characters,
 * marks that reorder or hide text, soft hyphens, variation selectors, tags,
 * fillers, and lone surrogates.
 *
 * Joiners, selectors and tags are kept where they are visible: in emoji that
 * Unicode recommends, between Arabic letters that would otherwise join, and
 * after a virama of an Indic script. Elsewhere they could make two different
 * texts look the same.
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
  // In these emoji every joiner, selector or tag has an effect. The expression
  // is created here because that takes 50 ms, and few processes need it.
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

/** Arabic letters that join the next letter (Joining_Type D of Unicode 14). */
const JOINS_NEXT = /* @__PURE__ */ String
  .raw`\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff\u0750-\u0758\u075c-\u076a\u076d-\u0770\u0772\u0775-\u0777\u077a-\u077f\u0886\u0889-\u088d\u08a0-\u08a9\u08af\u08b0\u08b3-\u08b8\u08ba-\u08c8`;
/** Arabic letters that join only the previous letter (Joining_Type R). */
const JOINS_BEFORE = /* @__PURE__ */ String
  .raw`\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0759-\u075b\u076b\u076c\u0771\u0773\u0774\u0778\u0779\u0870-\u0882\u088e\u08aa-\u08ac\u08ae\u08b1\u08b2\u08b9`;
/** The viramas from Devanagari to Sinhala: ten scripts in ten blocks of 128. */
const VIRAMA = /* @__PURE__ */ String
  .raw`\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca`;

// The number of marks is limited, so that no text is slow to match.
const ARABIC_BEFORE = /* @__PURE__ */ new RegExp(
  String.raw`[${JOINS_NEXT}]\p{Mn}{0,4}$`,
  "u",
);
const ARABIC_AFTER = /* @__PURE__ */ new RegExp(
  String.raw`^\p{Mn}{0,4}[${JOINS_NEXT}${JOINS_BEFORE}]`,
  "u",
);
const CONJUNCT = /* @__PURE__ */ new RegExp(
  String.raw`(\p{L})\p{M}{0,2}([${VIRAMA}])$`,
  "u",
);

/** The number of code units that are read on each side of a joiner. */
const REACH = 8;

/**
 * Returns whether a joiner visibly changes the letters around it, by rules A1,
 * A2 and B of UAX #31 2.3 for the Arabic script and ten Indic scripts.
 */
function isVisibleJoiner(text: string, at: number): boolean {
  const joiner = text[at];
  if (joiner !== "\u200c" && joiner !== "\u200d") return false;
  const before = text.slice(Math.max(0, at - REACH), at);
  const after = text.slice(at + 1, at + 1 + REACH);
  const [, letter, virama] = CONJUNCT.exec(before) ?? [];
  const isConjunct = letter !== undefined && virama !== undefined &&
    haveOneScript(letter, virama);
  if (joiner === "\u200c") {
    return ARABIC_BEFORE.test(before) && ARABIC_AFTER.test(after) ||
      isConjunct && /^\p{L}/u.test(after) && haveOneScript(virama, after);
  }
  return isConjunct && !/^\p{M}/u.test(after) ||
    // Ya-phalaa and reph with ra come before the virama (Unicode, ch. 12).
    before.endsWith("\u09b0") && after.startsWith("\u09cd\u09af") ||
    before.endsWith("\u0cb0") && /^\u0ccd[\u0c85-\u0cb9]/u.test(after);
}

/** Returns whether two Indic texts begin in the same script, or block. */
function haveOneScript(one: string, other: string): boolean {
  return one.charCodeAt(0) >> 7 === other.charCodeAt(0) >> 7;
}

/**
 * Formats input for messages: in quotes, at most 80 characters of it, with
 * invisible characters escaped.
 *
 * @example
 * ```ts
 * import { quote } from "@sig/core/internal";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(quote("a\nb\u202e"), '"a\\nb\\u202e"');
 * ```
 */
export function quote(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return escapeInvisible(JSON.stringify(short));
}
