// @ts-check
/// <reference lib="dom" />
/** A button that copies, and says whether it did. @module */

import { el } from "./dom.js";

const SAID_FOR_MS = 2_000;

/**
 * @param {() => string} text What to copy, asked for when it is pressed.
 * @param {string} what What it is, for people who can't see where the button is.
 * @returns {HTMLButtonElement}
 */
export function copyButton(text, what) {
  const word = el("span", { "aria-live": "polite" }, "Copy");
  const button = el(
    "button",
    { type: "button", class: "copy", onclick: () => void copy() },
    word,
    el("span", { class: "visually-hidden" }, ` ${what}`),
  );
  async function copy() {
    word.textContent = await navigator.clipboard?.writeText(text()).then(
      () => "Copied",
      () => "Select and copy",
    ) ?? "Select and copy";
    setTimeout(() => {
      word.textContent = "Copy";
    }, SAID_FOR_MS);
  }
  return button;
}

/**
 * A text in a fixed-width face with its copy button.
 *
 * @param {string} visible What is shown.
 * @param {string} what
 * @param {string} [copied] What is copied, if not what is shown.
 * @returns {HTMLElement}
 */
export function copyable(visible, what, copied = visible) {
  return el(
    "div",
    { class: "copyable" },
    el("code", {}, visible),
    copyButton(() => copied, what),
  );
}
