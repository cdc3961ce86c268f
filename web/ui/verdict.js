// @ts-check
/// <reference lib="dom" />
/** What came of verifying a feed. @module */

import { el, facts, fill, notice, shown } from "./dom.js";
import { counted } from "./format.js";

/** @typedef {import("./feed_check.js").CheckedFeed} CheckedFeed */

/**
 * Shows how far verification is.
 *
 * @param {HTMLElement} container
 * @param {number} bytes
 * @returns {(share: number) => void}
 */
export function showProgress(container, bytes) {
  const bar = el("progress", { max: 1, value: 0, "aria-label": "Verified" });
  fill(
    container,
    el("p", {}, `Verifying ${(bytes / 1024).toFixed(0)} KiB in this browser…`),
    bar,
  );
  return (share) => {
    bar.value = share;
  };
}

/**
 * @param {HTMLElement} container
 * @param {CheckedFeed} checked
 * @param {boolean} hosted Whether this server gave the documents.
 */
export function showVerdict(container, { report, state }, hosted) {
  const origin = hosted
    ? "This server gave the documents, so their origin is its word. The signatures are the issuer's."
    : "The documents are your own; that they are the issuer's is yours to know.";
  if (report.valid) {
    fill(
      container,
      notice(
        "success",
        el("h3", {}, "Valid"),
        el("p", {}, "Every signature and every rule holds. ", origin),
      ),
      facts([
        ["Issuer", el("code", {}, shown(report.issuer))],
        [
          "Content",
          `${counted(report.verified_events, "event")}, ${
            counted(state?.by_relationship_id.size ?? 0, "relationship")
          }`,
        ],
        ["Keys", keys(report.keys)],
        ["SHA-256 of the feed", el("code", {}, report.feed_sha256)],
      ]),
      warnings(report.warnings),
    );
    return;
  }
  fill(
    container,
    notice(
      "danger",
      el("h3", {}, "Not valid"),
      el(
        "p",
        {},
        `${counted(report.errors.length, "fault")} found. `,
        "Nothing in this feed may be relied upon, not even the lines without a fault.",
      ),
    ),
    report.issuer === null
      ? null
      : facts([["Issuer", el("code", {}, shown(report.issuer))]]),
    el("ol", { class: "faults" }, ...report.errors.map(faultItem)),
    warnings(report.warnings),
  );
}

/** @param {readonly { kid: string, events: number, first_sequence: number, last_sequence: number }[]} keys */
function keys(keys) {
  if (keys.length === 0) return "none has signed yet";
  return el(
    "ul",
    { class: "plain" },
    ...keys.map(({ kid, events, first_sequence, last_sequence }) =>
      el(
        "li",
        {},
        el("code", {}, shown(kid)),
        ` signed ${counted(events, "event")}, `,
        first_sequence === last_sequence
          ? `number ${first_sequence}`
          : `from number ${first_sequence} to ${last_sequence}`,
      )
    ),
  );
}

/** @param {import("./verify.js").ReportedFault} fault */
function faultItem({ code, detail, line, sequence, kid, pointer }) {
  const places = [
    line === undefined ? "" : `line ${line}`,
    sequence === undefined ? "" : `event ${sequence}`,
    kid === undefined ? "" : `key ${shown(kid)}`,
    pointer === undefined ? "" : `member ${shown(pointer)}`,
  ].filter(Boolean);
  return el(
    "li",
    {},
    el(
      "p",
      {},
      el("code", { class: "code" }, code),
      places.length > 0 ? el("strong", {}, ` ${places.join(", ")}`) : null,
    ),
    el("p", {}, shown(detail)),
  );
}

/** @param {readonly import("./verify.js").Warning[]} warnings */
function warnings(warnings) {
  if (warnings.length === 0) return null;
  return el(
    "details",
    { class: "more" },
    el("summary", {}, counted(warnings.length, "warning")),
    el(
      "ul",
      { class: "reasons" },
      ...warnings.slice(0, 100).map(({ code, detail, sequence }) =>
        el(
          "li",
          {},
          shown(detail),
          sequence === undefined ? " " : ` (event ${sequence}) `,
          el("code", { class: "code" }, code),
        )
      ),
    ),
  );
}

/**
 * It is not known whether the feed is valid.
 *
 * @param {HTMLElement} container
 * @param {string} why
 */
export function showNoVerdict(container, why) {
  fill(
    container,
    notice("warning", el("h3", {}, "No verdict"), el("p", {}, shown(why))),
  );
}
