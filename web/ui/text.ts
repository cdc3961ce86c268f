/**
 * Shows untrusted text. Components use it only as text nodes; characters that
 * hide or reorder text are escaped here first.
 *
 * @module
 */

import { escapeInvisible, parseDidWeb } from "@sig/core";

/**
 * Escapes invisible characters of an untrusted text; `lines` keeps line feeds.
 */
export function visibleText(text: unknown, { lines = false } = {}): string {
  const value = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  return lines
    ? value.split("\n").map(escapeInvisible).join("\n")
    : escapeInvisible(value);
}

/** Shortens an identifier longer than `maxLength` in its middle. */
export function shortened(text: string, maxLength = 32): string {
  if (text.length <= maxLength) return visibleText(text);
  const end = Math.floor(maxLength / 3);
  const start = maxLength - end - 1;
  return `${visibleText(text.slice(0, start))}…${
    visibleText(text.slice(-end))
  }`;
}

/** Returns a number with its noun: "1 event", "2 events". */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the host of a did:web or an origin. */
export function hostOf(name: string): string {
  const web = /^did:web:([^:/?#]+)$/.exec(name)?.[1];
  if (web !== undefined) return visibleText(web.replace(/%3a/i, ":"));
  return visibleText(name.replace(/^https?:\/\//, ""));
}

/** Returns a relationship's type in words: "admin delegate". */
export function typeLabel(type: string): string {
  return visibleText(type.replaceAll("_", " "));
}

/**
 * Returns a command line for a POSIX shell; undefined if an argument contains
 * characters that a terminal interprets or hides, which must not be pasted.
 */
export function commandLine(words: readonly string[]): string | undefined {
  if (words.some((word) => escapeInvisible(word) !== word)) return undefined;
  return words.map(quoted).join(" ");
}

/**
 * Returns the flag that `sig` needs to fetch from an issuer: `--allow-insecure`
 * for this machine and closed networks, where its URLs are `http:`.
 */
export function insecureFlag(did: string): readonly string[] {
  const { origin } = parseDidWeb(did, { allowPrivate: true });
  return origin.startsWith("http:") ? ["--allow-insecure"] : [];
}

function quoted(word: string): string {
  return /^[\w.:/@%+,=-]+$/.test(word)
    ? word
    : `'${word.replaceAll("'", `'\\''`)}'`;
}
