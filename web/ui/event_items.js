// @ts-check
/// <reference lib="dom" />
/** Events of a feed as entries of a list. @module */

import { badge, chips, el, shown } from "./dom.js";
import { validity } from "./explanation.js";
import { shortened, time } from "./format.js";

/** @typedef {import("./verify.js").VerifiedEvent} VerifiedEvent */

/**
 * Who, what and when, in two lines.
 *
 * @param {VerifiedEvent} verified
 * @param {ReadonlyMap<string, string>} names From {@link namesIn}.
 * @returns {HTMLLIElement}
 */
export function shortItem({ event }, names) {
  const name = names.get(event.relationship_id) ?? shortened(event.subject);
  return el(
    "li",
    { value: event.sequence },
    numberAndKind(event),
    el("p", {}, el("strong", {}, name), `: ${what(event)}`),
    el("p", { class: "quiet" }, time(event.issued_at)),
  );
}

/**
 * Everything that people ask of an event, and the event itself on demand.
 *
 * @param {VerifiedEvent} verified
 * @returns {HTMLLIElement}
 */
export function fullItem({ event, kid, line }) {
  const raw = el("details", { class: "raw" }, el("summary", {}, "The event"));
  // Hundreds of events are shown at once; few of them are opened.
  raw.addEventListener("toggle", () => {
    if (!raw.open || raw.childElementCount > 1) return;
    raw.append(
      el(
        "pre",
        { tabindex: 0 },
        shown(JSON.stringify(event, null, 2), { lines: true }),
      ),
    );
  });
  return el(
    "li",
    { value: event.sequence },
    numberAndKind(event),
    el("code", {}, shown(event.subject)),
    el("p", {}, ...details(event)),
    "roles" in event && event.roles.length > 0 ? chips(event.roles) : null,
    el(
      "p",
      { class: "quiet" },
      time(event.issued_at),
      ` · signed by ${shown(kid)} · line ${line}`,
    ),
    raw,
  );
}

/**
 * What the issuer calls its people, by relationship: revokes bear no name.
 *
 * @param {readonly VerifiedEvent[]} events
 * @returns {Map<string, string>}
 */
export function namesIn(events) {
  const names = new Map();
  for (const { event } of events) {
    const display = "display" in event ? event.display : undefined;
    const name = display?.label ?? display?.title;
    if (name) names.set(event.relationship_id, shown(name));
  }
  return names;
}

/** @param {VerifiedEvent["event"]} event */
function what(event) {
  if ("relationship_type" in event) {
    return shown(event.relationship_type);
  }
  if ("reason_code" in event) {
    return shown(event.reason_code).replaceAll("_", " ");
  }
  return shown(event.event_type);
}

/** @param {VerifiedEvent["event"]} event */
function details(event) {
  const id = el("code", {}, shown(event.relationship_id));
  if ("relationship_type" in event) {
    const title = event.display?.title;
    return [
      `${shown(event.relationship_type)}, `,
      typeof title === "string" && title !== "" ? `“${shown(title)}”, ` : "",
      id,
      ", ",
      validity(event.valid_from, event.valid_until),
    ];
  }
  if ("reason_code" in event) {
    return [
      id,
      ` ended: ${shown(event.reason_code)}, effective `,
      time(event.effective_at),
    ];
  }
  return [`${shown(event.event_type)}, `, id];
}

/** @param {VerifiedEvent["event"]} event */
function numberAndKind(event) {
  return el(
    "div",
    { class: "row" },
    el("span", { class: "number" }, `#${event.sequence}`),
    kindBadge(event),
  );
}

/** @param {VerifiedEvent["event"]} event */
function kindBadge(event) {
  if (event.event_type === "relationship.upsert") {
    return badge("success", "yes", "upsert");
  }
  if (event.event_type === "relationship.revoke") {
    return badge("danger", "no", "revoke");
  }
  return badge("neutral", "dot", "unknown type");
}
