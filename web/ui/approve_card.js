// @ts-check
/// <reference lib="dom" />
/** Approving or declining, and what of the scopes is granted. @module */

import { byHand } from "./by_hand.js";
import { el, fill, notice, shown } from "./dom.js";
import { shortened } from "./format.js";

/**
 * @param {HTMLElement} container
 * @param {object} options
 * @param {import("./api.js").Challenge | undefined} options.challenge
 * @param {import("./key_store.js").StoredKey | undefined} options.key
 * @param {string | undefined} options.fault Why it must not be signed.
 * @param {boolean} options.expired
 * @param {boolean} options.canHoldKeys
 * @param {(scopes: readonly string[]) => void} options.onApprove
 * @param {() => void} options.onDecline
 * @param {(attestation: string) => void} options.onAnswer Signed elsewhere.
 * @param {() => void} options.onAgain
 */
export function showApproval(container, options) {
  const { challenge, fault, key, expired, canHoldKeys } = options;
  if (challenge === undefined) {
    fill(
      container,
      el("p", { class: "quiet" }, "First start a request, above."),
    );
    return;
  }
  if (expired) {
    fill(
      container,
      notice(
        "warning",
        el("p", {}, el("strong", {}, "The request has expired. ")),
        el("p", {}, "Nothing was signed."),
      ),
      el(
        "div",
        { class: "actions" },
        el(
          "button",
          { type: "button", class: "primary", onclick: options.onAgain },
          "Ask again",
        ),
      ),
    );
    return;
  }
  if (fault !== undefined) {
    fill(
      container,
      notice(
        "danger",
        el("p", {}, el("strong", {}, "This request must not be signed. ")),
        el("p", {}, shown(fault)),
      ),
    );
    return;
  }
  const manual = byHand(challenge, options.onAnswer);
  if (!canHoldKeys) {
    fill(container, manual);
    return;
  }
  const folded = el(
    "details",
    { class: "more" },
    el("summary", {}, "Answer on the command line instead"),
    manual,
  );
  if (key === undefined) {
    fill(
      container,
      el("p", { class: "quiet" }, "First create your key, above."),
      folded,
    );
    return;
  }
  const grants = grantBoxes(challenge.scopes);
  fill(
    container,
    el(
      "p",
      {},
      "You tell ",
      el("strong", {}, shown(challenge.audience)),
      " that you are ",
      el("code", {}, shortened(key.did)),
      ".",
    ),
    grants.element,
    el(
      "div",
      { class: "actions" },
      el(
        "button",
        {
          type: "button",
          id: "approve",
          class: "primary",
          onclick: () => options.onApprove(grants.chosen()),
        },
        "Approve and sign in",
      ),
      el(
        "button",
        { type: "button", id: "decline", onclick: options.onDecline },
        "Decline",
      ),
    ),
    folded,
  );
}

/** @param {readonly string[]} scopes */
function grantBoxes(scopes) {
  if (scopes.length === 0) return { element: null, chosen: () => [] };
  const boxes = scopes.map((scope, i) => ({
    scope,
    box: el("input", { type: "checkbox", id: `grant-${i}`, checked: true }),
  }));
  return {
    element: el(
      "fieldset",
      {},
      el("legend", {}, "And let it have"),
      ...boxes.map(({ scope, box }) =>
        el(
          "div",
          { class: "check" },
          box,
          el("label", { for: box.id }, shown(scope)),
        )
      ),
    ),
    chosen: () =>
      boxes.filter(({ box }) => box.checked).map(({ scope }) => scope),
  };
}
