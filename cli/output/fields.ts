/** Labels with values, for people to read before they agree. @module */

import type { InvitationTerms } from "@sig/jose";
import { safe } from "./write.ts";
import { displayWidth, wrap } from "@sig/api/flags";
import type { Io } from "../terminal/io.ts";

/** A label and what it says. */
export type Line = readonly [label: string, value: string];

/** What an invitation offers. */
export function termLines(terms: InvitationTerms): readonly Line[] {
  const { roles, valid_from, valid_until } = terms;
  const from = valid_from === undefined ? "" : `from ${valid_from} `;
  const until = valid_until === undefined
    ? "without an end"
    : `until ${valid_until}`;
  return [
    ...(terms.same_person_as === undefined
      ? []
      : [["new key of", terms.same_person_as] as const]),
    ["as", terms.relationship_type],
    ["roles", roles.length === 0 ? "none" : roles.map(oneRole).join(", ")],
    ["valid", `${from}${until}`],
  ];
}

/** A role that could be taken for several, or for less than it is, in quotes. */
function oneRole(role: string): string {
  return /^\p{Zs}|\p{Zs}$|\p{Zs}{2}|,|"/u.test(role)
    ? JSON.stringify(role)
    : role;
}

/** Columns that a value has at least, also where the terminal is narrow. */
const LEAST_WIDTH = 20;

/**
 * Writes lines under each other for people, on the side; no value can pose as
 * another line: what is too wide continues beneath itself, and blanks that would
 * push text to where a label stands are shown escaped.
 */
export function writeLines(
  io: Io,
  lines: readonly Line[],
  labelWidth = 13,
): void {
  const columns = io.isTerminal("stderr") ? io.columns() : undefined;
  const width = columns === undefined
    ? Infinity
    : Math.max(LEAST_WIDTH, columns - labelWidth);
  io.stderr(
    lines.map(([label, value]) => {
      const parts = wrap(showBlanks(safe(value)), width)
        .flatMap((line) => broken(line, width));
      return `${label.padEnd(labelWidth)}${
        parts.join(`\n${" ".repeat(labelWidth)}`)
      }\n`;
    }).join(""),
  );
}

/** Blanks of any kind are seen between words; others could be any number. */
function showBlanks(text: string): string {
  return text.replace(
    /^\p{Zs}+|\p{Zs}+$|(?<=\p{Zs})\p{Zs}+/gu,
    (blanks) => blanks.replaceAll(/./gu, escaped),
  );
}

function escaped(blank: string): string {
  return `\\u${blank.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/**
 * A line in pieces that fit: a terminal would continue a line where labels stand.
 * Each character counts by itself, as in a terminal that joins none.
 */
function broken(line: string, width: number): readonly string[] {
  const pieces = [""];
  let room = width;
  for (const character of line) {
    const needed = /[\p{Mn}\p{Me}\p{Cf}]/u.test(character)
      ? 0
      : displayWidth(character);
    if (needed > room) {
      pieces.push("");
      room = width;
    }
    pieces[pieces.length - 1] += character;
    room -= needed;
  }
  return pieces;
}
