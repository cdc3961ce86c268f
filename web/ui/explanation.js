// @ts-check
/// <reference lib="dom" />
/** An answer and how it came about, drawn. @module */

import { badge, chips, el, icon, notice, shown } from "./dom.js";
import { counted, time } from "./format.js";
import { reasonSentence } from "./problems.js";

/** @typedef {import("./verify.js").EffectiveStatus} EffectiveStatus */

/**
 * What a relationship comes to, in a word with a mark.
 *
 * @param {EffectiveStatus} status
 * @returns {HTMLElement}
 */
export function statusBadge(status) {
  switch (status) {
    case "active":
      return badge("success", "yes", "active");
    case "revoked":
      return badge("danger", "no", "revoked");
    case "expired":
      return badge("warning", "clock", "expired");
    case "not_yet_valid":
      return badge("warning", "clock", "not yet valid");
  }
}

/**
 * Start and end of validity.
 *
 * @param {string | null} from
 * @param {string | null} until
 * @returns {HTMLElement}
 */
export function validity(from, until) {
  if (from === null && until === null) {
    return el("span", {}, "no start or end set");
  }
  return el(
    "span",
    {},
    from === null ? null : "from ",
    from === null ? null : time(from),
    from !== null && until !== null ? " " : null,
    until === null ? null : "until ",
    until === null ? null : time(until),
  );
}

/**
 * The decision with its reasons.
 *
 * @param {import("./verify.js").CheckResult} answer
 * @param {string} headingId
 * @returns {HTMLElement}
 */
export function decision(answer, headingId) {
  const allow = answer.decision === "allow";
  return notice(
    allow ? "success" : "danger",
    el("h3", { id: headingId, tabindex: -1 }, allow ? "Allow" : "Deny"),
    allow
      ? el(
        "p",
        {},
        "One relationship meets every requirement: ",
        el("code", {}, shown(answer.matched_relationship_id)),
        ".",
      )
      : reasons(answer.reasons),
  );
}

/**
 * Why not, in sentences.
 *
 * @param {readonly import("./verify.js").Reason[]} list
 * @returns {HTMLElement}
 */
export function reasons(list) {
  return el("ul", { class: "reasons" }, ...list.map(reasonItem));
}

/** @param {import("./verify.js").Reason} reason */
function reasonItem(reason) {
  const { code, requirement, relationship_id, sequence } = reason;
  return el(
    "li",
    {},
    reasonSentence(code),
    requirement ? " " : null,
    requirement
      ? el("code", {}, shown(`${requirement.key}=${requirement.value}`))
      : null,
    relationship_id === undefined
      ? null
      : ` (${shown(relationship_id)}, event ${sequence})`,
    " ",
    el("code", { class: "code" }, code),
  );
}

/**
 * Every relationship of the subject: what it comes to, what it meets.
 *
 * @param {import("./verify.js").CheckResult} answer With `explain`.
 * @returns {HTMLElement}
 */
export function explanation(answer) {
  const { explain } = answer;
  if (explain === undefined) return el("div");
  const { relationships } = explain;
  return el(
    "div",
    { class: "explanation" },
    el(
      "p",
      { class: "quiet" },
      explain.tense === "now"
        ? "Judged by the feed's last word, at "
        : "Judged by what was true at ",
      time(explain.judged_at),
      `, from ${counted(explain.events, "event")}.`,
    ),
    relationships.length === 0
      ? el("p", {}, "No event of the feed is about this subject.")
      : el("ul", { class: "judged" }, ...relationships.map(judgedItem)),
  );
}

/** @param {import("./verify.js").ExplainedRelationship} relationship */
function judgedItem(relationship) {
  return el(
    "li",
    {},
    el(
      "div",
      { class: "row" },
      el("code", {}, shown(relationship.relationship_id)),
      statusBadge(relationship.effective_status),
    ),
    el(
      "p",
      { class: "quiet" },
      `${relationship.relationship_type}, `,
      validity(relationship.valid_from, relationship.valid_until),
      `, last event ${relationship.last_sequence}`,
    ),
    relationship.roles.length > 0 ? chips(relationship.roles) : null,
    el(
      "ul",
      { class: "met" },
      ...relationship.requirements.map(({ key, value, met }) =>
        el(
          "li",
          { "data-met": String(met) },
          icon(met ? "yes" : "no"),
          el("code", {}, shown(`${key}=${value}`)),
          met ? " met" : " not met",
        )
      ),
    ),
  );
}
