/**
 * Texts of others. A component makes a text node of them and nothing else; what
 * hides or reorders is made visible here first. (SECURITY, W8)
 *
 * @module
 */

import { escapeInvisible } from "../libraries.ts";

/**
 * A text of others, to be shown. Line feeds stay where `lines` is set.
 */
export function shown(text: unknown, { lines = false } = {}): string {
  const value = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  return lines
    ? value.split("\n").map(escapeInvisible).join("\n")
    : escapeInvisible(value);
}

/** The ends of a long identifier; its middle tells nobody anything. */
export function shortened(text: string): string {
  return text.length > 32
    ? `${shown(text.slice(0, 16))}…${shown(text.slice(-8))}`
    : shown(text);
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
