// @ts-check
/// <reference lib="dom" />
/** Times and identifiers for people. @module */

import { el, shown } from "./dom.js";

/**
 * An instant as it was signed, in UTC, with the reader's own time as a hint.
 *
 * @param {string} instant RFC 3339 UTC.
 * @returns {HTMLTimeElement}
 */
export function time(instant) {
  const date = new Date(instant);
  const known = !Number.isNaN(date.getTime());
  const text = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(instant);
  return el(
    "time",
    {
      datetime: known ? instant : null,
      title: known ? `${date.toLocaleString()} here` : null,
    },
    text ? `${text[1]} ${text[2]} UTC` : shown(instant),
  );
}

/**
 * Minutes and seconds.
 *
 * @param {number} seconds
 * @returns {string}
 */
export function countdown(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 * @returns {string}
 */
export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/**
 * The ends of a long identifier.
 *
 * @param {string} text
 * @returns {string}
 */
export function shortened(text) {
  return text.length > 28
    ? `${shown(text.slice(0, 16))}…${shown(text.slice(-6))}`
    : shown(text);
}
