/** Labels with values, which a person reads before confirming. @module */

import type { InvitationTerms } from "@sig/jose";
import { safe } from "./write.ts";
import { displayWidth, wrap } from "@sig/api/program";
import type { Io } from "../terminal/io.ts";

/** A label and its value. */
export type Line = readonly [label: string, value: string];

/** Returns the terms of an invitation as lines. */
export function termLines(terms: InvitationTerms): readonly Line[] {
  const { roles, valid_from, valid_until } = terms;
  const from = valid_from === undefined ? "" : `from ${valid_from} `;
  const until = valid_until === undefined
    ? "without an end"
    : `until ${valid_until}${throughDay(valid_until)}`;
  return [
    ...(terms.same_person_as === undefined
      ? []
      : [["new key of", terms.same_person_as] as const]),
    ["as", terms.relationship_type],
    ["roles", roles.length === 0 ? "none" : roles.map(oneRole).join(", ")],
    ["valid", `${from}${until}`],
  ];
}

/**
 * Returns the last whole day before an end at midnight: people read an end on 1
 * April as a contract through 1 April.
 */
export function throughDay(end: string): string {
  const [, day] = /^(\d{4}-\d{2}-\d{2})T00:00:00(?:\.0+)?Z$/.exec(end) ?? [];
  if (day === undefined) return "";
  const last = new Date(Date.parse(`${day}T00:00:00Z`) - 86_400_000);
  return ` (through ${last.toISOString().slice(0, 10)})`;
}

/** Quotes a role that looks like several or has blanks at its ends. */
function oneRole(role: string): string {
  return /^\p{Zs}|\p{Zs}$|\p{Zs}{2}|,|"/u.test(role)
    ? JSON.stringify(role)
    : role;
}

/** Minimum width of a value in columns, also on a narrow terminal. */
const LEAST_WIDTH = 20;

/**
 * Writes lines to stderr. No value can look like another line: a value that is
 * too wide is wrapped below itself, and blanks that would move text to the
 * column of labels are escaped.
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

/**
 * Escapes leading, trailing and repeated blanks, whose number is not visible.
 */
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
 * Splits a line into pieces that fit, since a terminal would wrap it to the
 * column of labels. Counts each character separately, as terminals without
 * ligatures do.
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
