/** Joiners between letters that change how these are drawn. @module */

/** Arabic letters that join the next one (Joining_Type D of Unicode 14). */
const JOINS_NEXT = String
  .raw`\u0620\u0626\u0628\u062a-\u062e\u0633-\u063f\u0641-\u0647\u0649\u064a\u066e\u066f\u0678-\u0687\u069a-\u06bf\u06c1\u06c2\u06cc\u06ce\u06d0\u06d1\u06fa-\u06fc\u06ff\u0750-\u0758\u075c-\u076a\u076d-\u0770\u0772\u0775-\u0777\u077a-\u077f\u0886\u0889-\u088d\u08a0-\u08a9\u08af\u08b0\u08b3-\u08b8\u08ba-\u08c8`;
/** Those that join only the one before them (Joining_Type R). */
const JOINS_BEFORE = String
  .raw`\u0622-\u0625\u0627\u0629\u062f-\u0632\u0648\u0671-\u0673\u0675-\u0677\u0688-\u0699\u06c0\u06c3-\u06cb\u06cd\u06cf\u06d2\u06d3\u06d5\u06ee\u06ef\u0759-\u075b\u076b\u076c\u0771\u0773\u0774\u0778\u0779\u0870-\u0882\u088e\u08aa-\u08ac\u08ae\u08b1\u08b2\u08b9`;
/** The viramas of Devanagari to Sinhala: ten scripts in ten blocks of 128. */
const VIRAMA = String
  .raw`\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca`;

// Numbers of marks are bounded, so that no text makes this slow.
const ARABIC_BEFORE = new RegExp(String.raw`[${JOINS_NEXT}]\p{Mn}{0,4}$`, "u");
const ARABIC_AFTER = new RegExp(
  String.raw`^\p{Mn}{0,4}[${JOINS_NEXT}${JOINS_BEFORE}]`,
  "u",
);
const CONJUNCT = new RegExp(String.raw`(\p{L})\p{M}{0,2}([${VIRAMA}])$`, "u");

/** How many code units around a joiner are looked at. */
const REACH = 8;

/**
 * Whether a joiner can be seen by what it does to the letters around it: rules
 * A1, A2 and B of UAX #31 2.3, for the Arabic script and ten Indic ones.
 */
export function isVisibleJoiner(text: string, at: number): boolean {
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
    // Ya-phalaa and reph beside ra stand before the virama (Unicode, ch. 12).
    before.endsWith("\u09b0") && after.startsWith("\u09cd\u09af") ||
    before.endsWith("\u0cb0") && /^\u0ccd[\u0c85-\u0cb9]/u.test(after);
}

/** Whether two Indic texts begin in the same script: in the same block. */
function haveOneScript(one: string, other: string): boolean {
  return one.charCodeAt(0) >> 7 === other.charCodeAt(0) >> 7;
}
