import { assert, assertEquals } from "@std/assert";
import { escapeInvisible, quote } from "./escape_invisible.ts";

// promise: Untrusted text is displayed as text, invisible characters as
//   escapes.

/** Code points that are invisible, alone and between letters. */
const HIDDEN:
  readonly (readonly [first: number, last: number, what: string])[] = [
    [0x00, 0x1f, "C0 controls"],
    [0x7f, 0x9f, "DEL and C1 controls"],
    [0xad, 0xad, "soft hyphen"],
    [0x34f, 0x34f, "combining grapheme joiner"],
    [0x61c, 0x61c, "Arabic letter mark"],
    [0x115f, 0x1160, "Hangul fillers"],
    [0x17b4, 0x17b5, "Khmer inherent vowels"],
    [0x180b, 0x180f, "Mongolian selectors and vowel separator"],
    [0x200b, 0x200f, "zero-width space, joiners and direction marks"],
    [0x2028, 0x202e, "separators, embeddings and overrides"],
    [0x2060, 0x206f, "invisible operators, isolates, deprecated controls"],
    [0x2800, 0x2800, "Braille blank"],
    [0x3164, 0x3164, "Hangul filler"],
    [0xd800, 0xdfff, "halves of characters"],
    [0xfe00, 0xfe0f, "variation selectors"],
    [0xfeff, 0xfeff, "byte order mark"],
    [0xffa0, 0xffa0, "halfwidth Hangul filler"],
    [0xfff0, 0xfffc, "reserved, annotations, object replacement"],
    [0x13430, 0x1343f, "Egyptian controls"],
    [0x16fe4, 0x16fe4, "Khitan filler"],
    [0x1bca0, 0x1bca3, "shorthand controls"],
    [0x1d159, 0x1d159, "musical null note head"],
    [0x1d173, 0x1d17a, "musical controls"],
    [0xe0000, 0xe0fff, "tags and supplementary selectors"],
  ];

function unitsOf(text: string): string {
  return Array.from(
    { length: text.length },
    (_, i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, "0")}`,
  ).join("");
}

for (const [first, last, what] of HIDDEN) {
  Deno.test(`escapes ${what}, alone and between letters`, () => {
    for (let code = first; code <= last; code++) {
      const hidden = String.fromCodePoint(code);
      const name = `U+${code.toString(16)}`;
      assertEquals(escapeInvisible(hidden), unitsOf(hidden), name);
      assertEquals(
        escapeInvisible(`Ana${hidden}b${hidden}${hidden}`),
        `Ana${unitsOf(hidden)}b${unitsOf(hidden)}${unitsOf(hidden)}`,
        name,
      );
    }
  });
}

Deno.test("all characters that Unicode calls ignorable or format are escaped or listed as visible", () => {
  const drawn = new Set([
    ...[0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f],
    ...[0x890, 0x891, 0x8e2, 0x110bd, 0x110cd],
  ]);
  let count = 0;
  for (let code = 0; code <= 0x10ffff; code++) {
    const text = String.fromCodePoint(code);
    const isListed = HIDDEN.some(([a, b]) => a <= code && code <= b);
    if (
      /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/v.test(text)
    ) {
      count++;
      assert(isListed !== drawn.has(code), `U+${code.toString(16)}`);
    }
    if (!isListed) assertEquals(escapeInvisible(text), text);
  }
  // Each version of Unicode adds some and removes none.
  assert(count >= 4_273, `${count}`);
});

Deno.test("keeps words and emoji unchanged", () => {
  for (
    const text of [
      ...["plain, äöü, 東京, Ελληνικά, Кириллица", "👩🏽‍💻", "👨‍👩‍👧", "❤️", "❤️‍🔥"],
      ...["🏳️‍🌈", "1️⃣", "🇩🇪", "👍🏿"],
      // Flags by tags: England and Wales.
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
      // Persian: "I want", "houses", "programmers", and with vowel marks.
      "می\u200cخواهم",
      "خانه\u200cها",
      "برنامه\u200cنویس\u200cها",
      "مِی\u200cخواهَم",
      "שלום",
      "العربية ٱلْقُرْآن ۝",
      // Half forms and explicit viramas.
      "क्\u200dष",
      "क्\u200cष",
      "हिन्दी",
      "शब्\u200dद",
      "র\u200d্যাব",
      "ශ්\u200dරී",
      "അവന്\u200d",
      "ಅರ\u200d್ಕ",
    ]
  ) assertEquals(escapeInvisible(text), text);
});

Deno.test("escapes joiners, selectors and tags without a visible effect", () => {
  for (
    const [text, shown] of [
      ["a\u200db", "a\\u200db"],
      ["a\u200cb", "a\\u200cb"],
      // Incomplete emoji, and emoji that are complete without it.
      ["😀\u200d😀", "😀\\u200d😀"],
      ["👩‍💻\u200d", "👩‍💻\\u200d"],
      ["👩\u200d\u200d💻", "👩\\u200d\\u200d💻"],
      ["😀\ufe0f", "😀\\ufe0f"],
      ["❤️\ufe0f", "❤️\\ufe0f"],
      ["1\ufe0f", "1\\ufe0f"],
      ["a\ufe0f", "a\\ufe0f"],
      // Tags that are not a flag: unknown, without an end, or after a letter.
      ["🏴\u{e0061}\u{e007f}", "🏴\\udb40\\udc61\\udb40\\udc7f"],
      ["🏴\u{e0067}\u{e0062}", "🏴\\udb40\\udc67\\udb40\\udc62"],
      ["a\u{e0061}", "a\\udb40\\udc61"],
      // Dal does not join the next letter; no letter follows; or two joiners.
      ["د\u200cم", "د\\u200cم"],
      ["م\u200c", "م\\u200c"],
      ["\u200cم", "\\u200cم"],
      ["م\u200c\u200cم", "م\\u200c\\u200cم"],
      ["م\u200dم", "م\\u200dم"],
      ["م\u200ca", "م\\u200ca"],
      // No virama, a virama of another script, before a vowel sign, or twice.
      ["क\u200dष", "क\\u200dष"],
      ["a\u094d\u200db", "a\u094d\\u200db"],
      ["क्\u200dि", "क्\\u200dि"],
      ["क्\u200d\u200dष", "क्\u200d\\u200dष"],
      ["क्\u200ca", "क्\\u200ca"],
      // Between Han characters, where the variants look the same.
      ["葛\u{e0100}", "葛\\udb40\\udd00"],
    ] as const
  ) assertEquals(escapeInvisible(text), shown);
});

Deno.test("escaped JSON has the same meaning", () => {
  const value = { "a\u{e0061}b\u202e": ["\ud800", "\u3164", "👩🏽‍💻", "\n"] };
  const json = escapeInvisible(JSON.stringify(value));
  assertEquals(JSON.parse(json), value);
  assert(!/[\u{e0061}\u202e\u3164]/u.test(json));
});

Deno.test("the time for a text with many marks is linear", () => {
  // A lookbehind over all marks would take minutes here.
  const text = `${"\u094d".repeat(300_000)}\u200c`.repeat(2);
  assertEquals(
    escapeInvisible(text),
    text.replaceAll("\u200c", "\\u200c"),
  );
  const arabic = `${"\u064b".repeat(300_000)}\u200cم`.repeat(2);
  assertEquals(
    escapeInvisible(arabic),
    arabic.replaceAll("\u200c", "\\u200c"),
  );
});

Deno.test("quoted input is short, without control or direction characters", () => {
  assertEquals(quote('a"b\n\u001b\u009b'), '"a\\"b\\n\\u001b\\u009b"');
  assertEquals(
    quote("\u202eab\u2066\u200b\ufeff\u2028\u061c"),
    '"\\u202eab\\u2066\\u200b\\ufeff\\u2028\\u061c"',
  );
  assertEquals(quote("\ud800"), '"\\ud800"');
  assertEquals(quote("é😀"), '"é😀"');
  assertEquals(quote("x".repeat(80)), `"${"x".repeat(80)}"`);
  assertEquals(quote("x".repeat(81)), `"${"x".repeat(80)}…"`);
});
