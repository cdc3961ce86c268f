// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Making and finding elements. Texts become text nodes and nothing else; there
 * is no way from here to markup, so what a feed or a server says can't become
 * part of the page. (SECURITY, W8)
 *
 * @module
 */

import { escapeInvisible } from "./verify.js";

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * Text of others, to be shown: marks that hide or reorder are made visible.
 * Line feeds stay where `lines` is set.
 *
 * @param {unknown} text
 * @param {{ lines?: boolean }} [options]
 * @returns {string}
 */
export function shown(text, { lines = false } = {}) {
  const value = typeof text === "string" ? text : JSON.stringify(text) ?? "";
  return lines
    ? value.split("\n").map(escapeInvisible).join("\n")
    : escapeInvisible(value);
}

/**
 * Makes an element. Attributes are set by name; `class` and listeners
 * (`onclick: fn`) included. An attribute that is null or false is left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.replace(/^on/, ""), value);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...present(children));
  return element;
}

/**
 * Puts these children in place of all others.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...present(children));
}

/** @param {readonly Child[]} children */
function present(children) {
  /** @type {(Node | string)[]} */
  const kept = [];
  for (const child of children) {
    if (typeof child === "string" || child instanceof Node) kept.push(child);
  }
  return kept;
}

/**
 * The element of the page with this id.
 *
 * @template {HTMLElement} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const element = document.getElementById(id);
  if (element instanceof type) return element;
  throw new TypeError(`Cannot find ${type.name} #${id} in the page`);
}

/**
 * Moves the focus to a heading, and what it heads into view.
 *
 * @param {HTMLElement} element
 */
export function focusOn(element) {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
  bringIntoView(element);
}

/**
 * Scrolls to the card that an element is in, where it is not seen as a whole.
 *
 * @param {HTMLElement} element
 */
export function bringIntoView(element) {
  const whole = element.closest(".card") ?? element;
  const { top, bottom, height } = whole.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  whole.scrollIntoView({
    block: height > innerHeight ? "start" : "center",
    behavior: calm ? "auto" : "smooth",
  });
}

const SVG = "http://www.w3.org/2000/svg";

const PATHS = Object.freeze({
  yes: "M5 12.5 10 17.500 19 7",
  no: "M7 7 17 17M17 7 7 17",
  warning: "M12 6v7.500M12 17.500v.010",
  clock: "M12 4a8 8 0 1 0 .010 0M12 8.500v4l2.500 1.500",
  dot: "M12 12v.010",
});

/**
 * A mark beside a word; it never stands alone, so it has no name of its own.
 *
 * @param {keyof typeof PATHS} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/**
 * A line that tells something, with its mark and a word for its kind.
 *
 * @param {"success" | "danger" | "warning" | "info"} kind
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function notice(kind, ...children) {
  const mark = kind === "success"
    ? icon("yes")
    : kind === "danger"
    ? icon("no")
    : icon("warning");
  return el(
    "div",
    { class: "notice", "data-kind": kind },
    mark,
    el("div", {}, ...children),
  );
}

/**
 * A word with its mark, for a state.
 *
 * @param {"success" | "danger" | "warning" | "neutral"} kind
 * @param {keyof typeof PATHS} mark
 * @param {string} word
 * @returns {HTMLElement}
 */
export function badge(kind, mark, word) {
  return el("span", { class: "badge", "data-kind": kind }, icon(mark), word);
}

/**
 * A list of names and values.
 *
 * @param {readonly (readonly [string, Child] | null | false)[]} rows
 * @returns {HTMLDListElement}
 */
export function facts(rows) {
  return el(
    "dl",
    { class: "facts" },
    ...rows.flatMap((row) =>
      row ? [el("div", {}, el("dt", {}, row[0]), el("dd", {}, row[1]))] : []
    ),
  );
}

/**
 * Short texts beside one another.
 *
 * @param {readonly string[]} texts
 * @returns {HTMLElement}
 */
export function chips(texts) {
  return el(
    "ul",
    { class: "chips" },
    ...texts.map((text) => el("li", {}, shown(text))),
  );
}
