/** Names that people can't tell apart, and that checks do. @module */

import { quote } from "@sig/core/internal";

/** What is not seen: zero-width characters, direction marks, other blanks. */
const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

const EVERY_HIDDEN = new RegExp(HIDDEN, "gu");

/** Why a name may not be what it looks like; undefined for an ordinary one. */
export function hiddenIn(name: string): string | undefined {
  if (HIDDEN.test(name)) return "contains a character that is not visible";
  return /^ | $| {2}/.test(name)
    ? "begins or ends with a blank, or has several in a row"
    : undefined;
}

/** The same text for names that look the same, or differ in case alone. */
function appearance(name: string): string {
  return name.normalize("NFKC").toLowerCase()
    .replaceAll(EVERY_HIDDEN, "").replaceAll(/\s+/g, " ").trim();
}

/** Names that are known, by what they look like. */
export class SimilarNames {
  readonly #names = new Map<string, Set<string>>();

  /** Knows these names. */
  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name);
  }

  /** Adds a name. */
  add(name: string): void {
    const key = appearance(name);
    const names = this.#names.get(key);
    if (names === undefined) this.#names.set(key, new Set([name]));
    else names.add(name);
  }

  /** A known name that looks like an unknown one. */
  like(name: string): string | undefined {
    const names = this.#names.get(appearance(name));
    return names === undefined || names.has(name) ? undefined : [...names][0];
  }

  /** All names of which several look the same. */
  get groups(): readonly (readonly string[])[] {
    return [...this.#names.values()].filter(({ size }) => size > 1)
      .map((names) => [...names].sort());
  }
}

/** What is doubtful about a name among those that are known. */
export function doubtsAboutName(
  kind: "role" | "subject",
  name: string,
  known: SimilarNames,
): readonly string[] {
  const hidden = hiddenIn(name);
  const like = known.like(name);
  return [
    ...(hidden === undefined ? [] : [`the ${kind} ${quote(name)} ${hidden}`]),
    ...(like === undefined ? [] : [
      `the ${kind} ${quote(name)} differs from ${
        quote(like)
      } in case or in characters that are not visible; checks compare exactly`,
    ]),
  ];
}
