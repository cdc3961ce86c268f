// @ts-check
/// <reference lib="dom" />
/** Answering with `sig attest` instead of this browser's key. @module */

import { copyable, copyButton } from "./copy_button.js";
import { el } from "./dom.js";

const COMMAND = "sig attest --challenge challenge.json --key alice.jwk";

/**
 * @param {import("./api.js").Challenge} challenge
 * @param {(attestation: string) => void} onAnswer
 * @returns {HTMLElement}
 */
export function byHand(challenge, onAnswer) {
  const text = `${JSON.stringify(challenge, null, 2)}\n`;
  const box = el("textarea", {
    id: "attestation",
    rows: 4,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "none",
    "aria-describedby": "attestation-error",
  });
  const error = el("p", {
    id: "attestation-error",
    class: "error",
    "aria-live": "polite",
  });
  return el(
    "div",
    { class: "by-hand" },
    el(
      "ol",
      {},
      el(
        "li",
        {},
        el(
          "p",
          {},
          "Save the request as ",
          el("code", {}, "challenge.json"),
          ".",
        ),
        el(
          "div",
          { class: "actions" },
          el(
            "button",
            { type: "button", onclick: () => download(text) },
            "Download challenge.json",
          ),
          copyButton(() => text, "the request as JSON"),
        ),
      ),
      el(
        "li",
        {},
        el(
          "p",
          {},
          "Sign it with your key. To make one: ",
          el("code", {}, "sig key generate --out alice.jwk"),
          ".",
        ),
        copyable(COMMAND, "the command"),
      ),
      el(
        "li",
        {},
        el(
          "form",
          { onsubmit: (event) => submit(event) },
          el(
            "div",
            { class: "field" },
            el("label", { for: "attestation" }, "Paste what it printed"),
            box,
            error,
          ),
          el(
            "div",
            { class: "actions" },
            el(
              "button",
              { type: "submit", class: "primary" },
              "Send the answer",
            ),
          ),
        ),
      ),
    ),
  );

  /** @param {Event} event */
  function submit(event) {
    event.preventDefault();
    const answer = box.value.replaceAll(/\s/g, "");
    error.textContent = answer === "" ? "Nothing is pasted yet." : "";
    if (answer === "") box.focus();
    else onAnswer(answer);
  }
}

/** @param {string} text */
function download(text) {
  const url = URL.createObjectURL(
    new Blob([text], { type: "application/json" }),
  );
  el("a", { href: url, download: "challenge.json" }).click();
  // Not at once: the browser reads it after this turn.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
