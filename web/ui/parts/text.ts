/**
 * Texts of others. A component makes a text node of them and nothing else; what
 * hides or reorders is made visible here first. (SECURITY, W8)
 *
 * @module
 */

import { escapeInvisible } from "../libraries/login.ts";

/**
 * A text of others, to be shown. Line feeds stay where `lines` is set.
 */
export function shown(text: unknown, { lines = false } = {}): string {
  const value = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  return lines
    ? value.split("\n").map(escapeInvisible).join("\n")
    : escapeInvisible(value);
}

/**
 * The ends of an identifier longer than `most` characters; its middle tells
 * nobody anything.
 */
export function shortened(text: string, most = 32): string {
  if (text.length <= most) return shown(text);
  const end = Math.floor(most / 3);
  const start = most - end - 1;
  return `${shown(text.slice(0, start))}…${shown(text.slice(-end))}`;
}

/** A number of things. */
export function counted(
  count: number,
  one: string,
  many: string = `${one}s`,
): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** A did:web, or an origin, as people call it: its host. */
export function hostOf(name: string): string {
  const web = /^did:web:([^:/?#]+)$/.exec(name)?.[1];
  if (web !== undefined) return shown(web.replace(/%3a/i, ":"));
  return shown(name.replace(/^https?:\/\//, ""));
}

/** Whether a value is a plain object, of JSON. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
