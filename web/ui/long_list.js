// @ts-check
/// <reference lib="dom" />
/** A list that is shown a part at a time: feeds have 100,000 events. @module */

import { el, fill } from "./dom.js";
import { counted } from "./format.js";

const PART = 100;

/**
 * Shows the first items, and more on request.
 *
 * @template T
 * @param {HTMLElement} container
 * @param {object} options
 * @param {readonly T[]} options.items
 * @param {(item: T) => HTMLLIElement} options.draw
 * @param {string} options.one What an item is called.
 * @param {string} options.none What to say when there is none.
 * @param {string} options.className
 */
export function showLongList(container, options) {
  const { items, draw, one, none, className } = options;
  if (items.length === 0) {
    fill(container, el("p", { class: "quiet" }, none));
    return;
  }
  const list = el("ol", { class: className });
  const count = el("p", { class: "quiet", "aria-live": "polite" });
  const more = el("button", { type: "button", onclick: showMore }, "");
  let shownItems = 0;

  function showMore() {
    const part = items.slice(shownItems, shownItems + PART).map(draw);
    const first = shownItems > 0 ? part[0] : undefined;
    list.append(...part);
    shownItems += part.length;
    count.textContent = shownItems === items.length
      ? `${counted(items.length, one)}.`
      : `${shownItems} of ${counted(items.length, one)} shown.`;
    const rest = Math.min(PART, items.length - shownItems);
    more.textContent = `Show ${rest} more`;
    more.hidden = rest === 0;
    if (first) {
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    }
  }

  showMore();
  fill(container, count, list, more);
}
