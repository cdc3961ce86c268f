// @ts-check
/// <reference lib="dom" />
/** The question, and its answer. @module */

import { commandLine } from "./command_line.js";
import { copyable } from "./copy_button.js";
import { byId, el, fill, focusOn, notice, shown } from "./dom.js";
import { decision, explanation } from "./explanation.js";
import { time } from "./format.js";
import { check, isSigError, RELATIONSHIP_TYPES } from "./verify.js";

const KEYS = Object.freeze({
  relationship: "is",
  role: "has the role",
  relationship_id: "is number",
});
const SUGGESTED_SUBJECTS = 200;

/**
 * @typedef {object} Asked
 * @property {import("./verify.js").FeedState} state
 * @property {readonly import("./verify.js").VerifiedEvent[]} events
 * @property {string} source What `sig check --sig` is given.
 */

/** Wires the form once; `setFeed` says what is asked. */
export function createAskForm() {
  const subject = byId("ask-subject", HTMLInputElement);
  const at = byId("ask-at", HTMLInputElement);
  const asOf = byId("ask-as-of", HTMLInputElement);
  const rows = byId("requirements", HTMLUListElement);
  const container = byId("answer", HTMLElement);
  /** @type {Asked | undefined} */
  let asked;
  let nextRow = 0;

  byId("add-requirement", HTMLButtonElement).addEventListener(
    "click",
    () => addRow("role", "").querySelector("select")?.focus(),
  );
  byId("ask-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    ask();
  });

  /**
   * @param {keyof typeof KEYS} key
   * @param {string} value
   */
  function addRow(key, value) {
    const id = `requirement-${nextRow++}`;
    const select = el(
      "select",
      { "aria-label": "Which requirement", onchange: suggest },
      ...Object.keys(KEYS).map((each) =>
        el("option", { value: each, selected: each === key }, each)
      ),
    );
    const input = el("input", {
      type: "text",
      "aria-label": "Its value",
      value,
      autocomplete: "off",
      autocapitalize: "none",
      spellcheck: "false",
    });
    const list = el("datalist", { id });
    const row = el(
      "li",
      {},
      select,
      input,
      list,
      el(
        "button",
        { type: "button", onclick: remove },
        "Remove",
        el("span", { class: "visually-hidden" }, " this requirement"),
      ),
    );
    rows.append(row);
    suggest();
    return row;

    function suggest() {
      const types = select.value === "relationship" ? RELATIONSHIP_TYPES : [];
      fill(list, ...types.map((type) => el("option", { value: type })));
      if (types.length > 0) input.setAttribute("list", id);
      else input.removeAttribute("list");
    }
    function remove() {
      row.remove();
      byId("add-requirement", HTMLButtonElement).focus();
    }
  }

  function requirements() {
    return [...rows.children].map((row) => {
      const key = row.querySelector("select")?.value ?? "";
      return `${key}=${row.querySelector("input")?.value ?? ""}`;
    });
  }

  function ask() {
    if (asked === undefined) return;
    const question = {
      subject: subject.value.trim(),
      require: requirements(),
      at: at.value.trim() || undefined,
      asOf: asOf.value.trim() || undefined,
    };
    try {
      const answer = check(asked.state, {
        ...question,
        now: new Date(),
        explain: true,
      });
      fill(
        container,
        decision(answer, "answer-title"),
        answer.not_after === null ? null : el(
          "p",
          { class: "quiet" },
          "Without a further event this may change at ",
          time(answer.not_after),
          ".",
        ),
        explanation(answer),
        el("h3", {}, "The same on the command line"),
        command(asked.source, question),
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
      const { hint } = error.context;
      fill(
        container,
        notice(
          "warning",
          el("h3", { id: "answer-title" }, "No answer"),
          el("p", {}, shown(error.message)),
          hint === undefined ? null : el("p", {}, shown(hint)),
        ),
      );
    }
    focusOn(byId("answer-title", HTMLElement));
  }

  return {
    /** @param {Asked} feed */
    setFeed(feed) {
      asked = feed;
      container.replaceChildren();
      rows.replaceChildren();
      addRow("relationship", "employee");
      at.value = "";
      asOf.value = "";
      const subjects = new Set(feed.events.map(({ event }) => event.subject));
      const first = [...subjects].slice(-SUGGESTED_SUBJECTS);
      subject.value = first.at(-1) ?? "";
      fill(
        byId("subjects", HTMLDataListElement),
        ...first.map((each) => el("option", { value: each })),
      );
    },
  };
}

/**
 * Whether an issuer is on this machine or network, as a demo's is.
 *
 * @param {string} source
 */
function isPrivate(source) {
  return /^did:web:(localhost|[\d.]+)(%3A\d+)?$/.test(source);
}

/**
 * @param {string} source
 * @param {{ subject: string, require: readonly string[], at: string | undefined, asOf: string | undefined }} question
 */
function command(source, { subject, require, at, asOf }) {
  const line = commandLine([
    "sig",
    "check",
    "--sig",
    source,
    "--subject",
    subject,
    ...require.flatMap((each) => ["--require", each]),
    ...(at === undefined ? [] : ["--at", at]),
    ...(asOf === undefined ? [] : ["--as-of", asOf]),
    ...(isPrivate(source) ? ["--allow-insecure"] : []),
    "--explain",
  ]);
  if (line !== undefined) return copyable(line, "the command");
  return el(
    "p",
    { class: "quiet" },
    "The question holds characters that a terminal would obey or hide; there is no command to copy.",
  );
}
