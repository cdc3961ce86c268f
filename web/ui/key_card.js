// @ts-check
/// <reference lib="dom" />
/** The key of this browser, or why there can be none. @module */

import { copyable } from "./copy_button.js";
import { byId, el, fill, notice } from "./dom.js";
import { time } from "./format.js";

/** @typedef {"insecure" | "ed25519" | "storage"} Missing */

const WHY = Object.freeze({
  insecure:
    "Browsers hold keys for pages on https or on this machine only, and this page is neither.",
  ed25519: "This browser can't sign with Ed25519 yet. A newer version can.",
  storage:
    "This browser does not let the page keep anything, as in some private windows.",
});

/**
 * @param {HTMLElement} container
 * @param {object} options
 * @param {import("./key_store.js").StoredKey | undefined} options.key
 * @param {Missing | undefined} options.missing
 * @param {boolean} options.wanted A request waits for it.
 * @param {() => void} options.onCreate
 * @param {() => void} options.onForget Asked for and confirmed.
 */
export function showKey(
  container,
  { key, missing, wanted, onCreate, onForget },
) {
  if (missing !== undefined) {
    fill(
      container,
      notice(
        "warning",
        el("p", {}, el("strong", {}, "No key can live here. "), WHY[missing]),
        el(
          "p",
          {},
          "You can still sign in: answer on the command line, in the next step.",
        ),
      ),
    );
  } else if (key === undefined) {
    fill(
      container,
      el(
        "p",
        { class: "quiet" },
        "Made here and kept here. Not even this page can read it; it can only ask the browser to sign.",
      ),
      el(
        "div",
        { class: "actions" },
        el(
          "button",
          { type: "button", class: wanted && "primary", onclick: onCreate },
          "Create my key",
        ),
      ),
    );
  } else {
    fill(
      container,
      el("p", { class: "quiet" }, "Sites know you by this name:"),
      copyable(key.did, "your did:key"),
      el(
        "div",
        { class: "row" },
        el(
          "span",
          { class: "quiet" },
          "Made ",
          time(`${key.createdAt.slice(0, 19)}Z`),
        ),
        el(
          "button",
          { type: "button", onclick: () => confirmForget(onForget) },
          "Forget this key",
        ),
      ),
    );
  }
}

/** @param {() => void} onForget */
function confirmForget(onForget) {
  const dialog = byId("forget-dialog", HTMLDialogElement);
  byId("forget-cancel", HTMLButtonElement).onclick = () => dialog.close();
  byId("forget-confirm", HTMLButtonElement).onclick = () => {
    dialog.close();
    onForget();
  };
  dialog.showModal();
}
