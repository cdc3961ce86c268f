// @ts-check
/// <reference lib="dom" />
/** What was sent and received, for developers. @module */

import { decodeAttestation } from "./attestation.js";
import { isRecord } from "./api.js";
import { el, shown } from "./dom.js";

const KEPT = 20;

/**
 * @param {HTMLElement} container
 * @returns {(exchange: import("./api.js").Exchange) => void}
 */
export function createLog(container) {
  container.replaceChildren(el("p", { class: "quiet" }, "Nothing yet."));
  let empty = true;
  return (exchange) => {
    if (empty) container.replaceChildren();
    empty = false;
    container.prepend(entry(exchange));
    while (container.childElementCount > KEPT) container.lastChild?.remove();
  };
}

/** @param {import("./api.js").Exchange} exchange */
function entry({ method, path, sent, status, received }) {
  const jwt = isRecord(sent) && typeof sent.attestation === "string"
    ? sent.attestation
    : undefined;
  const decoded = jwt === undefined ? undefined : decodeAttestation(jwt);
  return el(
    "section",
    { class: "exchange" },
    el(
      "h3",
      {},
      `${method} ${shown(path)}`,
      " ",
      el("span", { class: "code" }, status === 0 ? "no answer" : `${status}`),
    ),
    ...(sent === undefined ? [] : json("Sent", sent)),
    ...(decoded === undefined ? [] : [
      ...json("The attestation's header", decoded.header),
      ...json("The attestation's claims", decoded.claims),
    ]),
    ...(received === undefined ? [] : json("Received", received)),
  );
}

/**
 * @param {string} title
 * @param {unknown} value
 */
function json(title, value) {
  return [
    el("h4", {}, title),
    el(
      "pre",
      { tabindex: 0 },
      shown(JSON.stringify(value, null, 2), { lines: true }),
    ),
  ];
}
