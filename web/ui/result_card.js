// @ts-check
/// <reference lib="dom" />
/** What came of a login. @module */

import { chips, el, facts, fill, notice, shown } from "./dom.js";
import { explanation, reasons } from "./explanation.js";
import { time } from "./format.js";
import { meaningOf, reasonSentence } from "./problems.js";

/**
 * @param {HTMLElement} container
 * @param {import("./api.js").Login} login
 * @param {() => void} onAgain
 * @returns {HTMLElement} The heading.
 */
export function showSuccess(container, login, onAgain) {
  const heading = el("h3", { tabindex: -1 }, "You are signed in");
  fill(
    container,
    notice(
      "success",
      heading,
      el("p", {}, "The site checked your signature, and it holds."),
    ),
    facts([
      ["You", el("code", {}, shown(login.subject))],
      ["Site", shown(login.audience)],
      [
        "It may know",
        login.scopes.length === 0 ? "who you are" : chips(login.scopes),
      ],
      ["Checked", time(login.verified_at)],
      login.relationship === null
        ? null
        : ["Relationship", relationship(login.relationship)],
    ]),
    el(
      "div",
      { class: "actions" },
      el("button", { type: "button", onclick: onAgain }, "Sign in again"),
    ),
  );
  return heading;
}

/**
 * What let the person in; the rest is in the developers' log.
 *
 * @param {Record<string, unknown>} relationship
 */
function relationship({ issuer, relationship_id, last_sequence }) {
  return el(
    "span",
    {},
    el("code", {}, shown(relationship_id)),
    " with ",
    el("code", {}, shown(issuer)),
    `, as of event ${shown(last_sequence)}`,
  );
}

/**
 * @param {HTMLElement} container
 * @param {import("./api.js").Problem} problem
 * @param {() => void} onAgain
 * @returns {{ heading: HTMLElement, why: HTMLElement }} `why` is for more.
 */
export function showRefusal(container, problem, onAgain) {
  const { title, next, again } = meaningOf(
    problem.code,
    problem.message,
    problem.hint,
  );
  const heading = el("h3", { tabindex: -1 }, shown(title));
  const why = el("div", {}, serverReasons(problem));
  fill(
    container,
    notice(
      "danger",
      heading,
      next === "" ? null : el("p", {}, shown(next)),
    ),
    why,
    fieldErrors(problem),
    el(
      "p",
      { class: "quiet" },
      shown(problem.message),
      " ",
      el("code", { class: "code" }, shown(problem.code)),
    ),
    problem.hint !== "" && problem.hint !== next
      ? el("p", { class: "quiet" }, shown(problem.hint))
      : null,
    again
      ? el(
        "div",
        { class: "actions" },
        el(
          "button",
          { type: "button", class: "primary", onclick: onAgain },
          "Try again",
        ),
      )
      : null,
  );
  return { heading, why };
}

/** @param {import("./api.js").Problem} problem */
function serverReasons({ body }) {
  if (!Array.isArray(body.reasons)) return null;
  return el(
    "ul",
    { class: "reasons" },
    ...body.reasons.map(({ code }) =>
      el("li", {}, shown(reasonSentence(String(code))))
    ),
  );
}

/** @param {import("./api.js").Problem} problem */
function fieldErrors({ body }) {
  if (!Array.isArray(body.errors)) return null;
  return el(
    "ul",
    { class: "reasons" },
    ...body.errors.map((each) =>
      el(
        "li",
        {},
        el("code", {}, shown(each?.pointer ?? "")),
        ` ${shown(each?.detail ?? "")}`,
      )
    ),
  );
}

/**
 * Shows, by the issuer's own feed, why the person is not let in.
 *
 * @param {HTMLElement} container
 * @param {import("./verify.js").CheckResult} answer
 */
export function showWhy(container, answer) {
  fill(
    container,
    el(
      "details",
      { class: "more", open: true },
      el("summary", {}, "What the feed says, checked in this browser"),
      reasons(answer.reasons),
      explanation(answer),
    ),
  );
}

/**
 * @param {HTMLElement} container
 * @param {() => void} onAgain
 * @returns {HTMLElement} The heading.
 */
export function showDeclined(container, onAgain) {
  const heading = el("h3", { tabindex: -1 }, "You declined");
  fill(
    container,
    notice("info", heading, el("p", {}, "Nothing was signed or sent.")),
    el(
      "div",
      { class: "actions" },
      el("button", { type: "button", onclick: onAgain }, "Start again"),
    ),
  );
  return heading;
}
