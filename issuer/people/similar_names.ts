/** Finds names that look the same to people but differ in checks. @module */

import type { RelationshipUpsertEvent } from "@sig/core";
import { quote } from "@sig/core/internal";

/** Invisible characters: zero-width ones, direction marks, special blanks. */
const HIDDEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

const EVERY_HIDDEN = new RegExp(HIDDEN, "gu");

/** Returns why a name may not be what it looks like, or undefined. */
export function hiddenIn(name: string): string | undefined {
  if (HIDDEN.test(name)) return "contains a character that is not visible";
  return /^ | $| {2}/.test(name)
    ? "begins or ends with a blank, or has several in a row"
    : undefined;
}

/**
 * Returns the same text for names that look the same or differ only in case.
 */
export function appearance(name: string): string {
  return name.normalize("NFKC").toLowerCase()
    .replaceAll(EVERY_HIDDEN, "").replaceAll(/\s+/g, " ").trim();
}

/** A set of known names, indexed by appearance. */
export class SimilarNames {
  readonly #names = new Map<string, Set<string>>();

  /** Creates the set with these names. */
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

  /** Returns a known name that looks like this unknown name, or undefined. */
  like(name: string): string | undefined {
    const names = this.#names.get(appearance(name));
    return names === undefined || names.has(name) ? undefined : [...names][0];
  }

  /** Groups of two or more names that look the same, each sorted. */
  get groups(): readonly (readonly string[])[] {
    return [...this.#names.values()].filter(({ size }) => size > 1)
      .map((names) => [...names].sort());
  }
}

/** Published subjects and roles that new ones are compared with. */
export class KnownNames {
  readonly #subjects = new SimilarNames();
  readonly #roles = new SimilarNames();

  /** Takes the names in upserts. */
  constructor(upserts: Iterable<RelationshipUpsertEvent> = []) {
    for (const { roles, subject } of upserts) this.add(subject, roles);
  }

  /** Adds the names of a relationship. */
  add(subject: string, roles: readonly string[]): void {
    this.#subjects.add(subject);
    for (const role of roles) this.#roles.add(role);
  }

  /** Finds invisible characters, or similarity to a known subject. */
  doubtsAboutSubject(subject: string): readonly string[] {
    return doubtsAbout("subject", subject, this.#subjects);
  }

  /**
   * Finds probable mistakes in a role: a comma or semicolon that was meant as a
   * separator, the name `none`, which clears other members, invisible
   * characters, or similarity to a known role.
   *
   * @param several How several roles are given.
   */
  doubtsAboutRole(role: string, several: string): readonly string[] {
    const [mark] = /[,;]/.exec(role) ?? [];
    const name = mark === "," ? "comma" : "semicolon";
    return [
      ...(role === "none"
        ? [`"none" is a role with that name, and removes no role`]
        : []),
      ...(mark === undefined ? [] : [
        `${JSON.stringify(role)} is one role with a ${name} in it; ${several}`,
      ]),
      ...doubtsAbout("role", role, this.#roles),
    ];
  }
}

function doubtsAbout(
  kind: string,
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
