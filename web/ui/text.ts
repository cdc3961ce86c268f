/**
 * Text of others. A component makes a text node of it and nothing else;
 * characters that hide or reorder text are made visible here first.
 *
 * @module
 */

import { escapeInvisible } from "@sig/core";

/** A text of others, to be shown. Line feeds stay where `lines` is set. */
export function visibleText(text: unknown, { lines = false } = {}): string {
  const value = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  return lines
    ? value.split("\n").map(escapeInvisible).join("\n")
    : escapeInvisible(value);
}

/** An identifier with its middle left out where it is longer than `maxLength`. */
export function shortened(text: string, maxLength = 32): string {
  if (text.length <= maxLength) return visibleText(text);
  const end = Math.floor(maxLength / 3);
  const start = maxLength - end - 1;
  return `${visibleText(text.slice(0, start))}…${
    visibleText(text.slice(-end))
  }`;
}

/** A number with its noun: "1 event", "2 events". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** The host of a did:web or an origin. */
export function hostOf(name: string): string {
  const web = /^did:web:([^:/?#]+)$/.exec(name)?.[1];
  if (web !== undefined) return visibleText(web.replace(/%3a/i, ":"));
  return visibleText(name.replace(/^https?:\/\//, ""));
}

/** Whether a value is a JSON object. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A relationship's type in words: "admin delegate". */
export function typeLabel(type: string): string {
  return visibleText(type.replaceAll("_", " "));
}

/**
 * A command line for a POSIX shell, or undefined where an argument holds
 * characters that a terminal would obey or hide: nobody should paste those.
 */
export function commandLine(words: readonly string[]): string | undefined {
  if (words.some((word) => escapeInvisible(word) !== word)) return undefined;
  return words.map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w.:/@%+,=-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
}
