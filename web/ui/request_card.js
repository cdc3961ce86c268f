// @ts-check
/// <reference lib="dom" />
/** Who asks, for what, and for how long. @module */

import { chips, el, facts, fill, notice, shown } from "./dom.js";
import { countdown } from "./format.js";

const TICK_MS = 500;
/** When the time left is said aloud, once. */
const LAST_CALL_SECONDS = 30;

/**
 * @param {HTMLElement} container
 * @param {object} options
 * @param {import("./api.js").Challenge} options.challenge
 * @param {string | undefined} options.text It in words, made of its members.
 * @param {() => Date} options.now The server's clock.
 * @param {() => void} options.onExpired
 * @param {() => void} options.onAnother The person wants another request.
 * @returns {{ heading: HTMLElement, close(): void }} `close` it once answered.
 */
export function showRequest(container, options) {
  const { challenge, text, now, onExpired, onAnother } = options;
  const heading = el(
    "h3",
    { class: "who", tabindex: -1 },
    el("strong", {}, shown(challenge.audience)),
    " asks you to sign in",
  );
  const timer = createTimer(challenge, now, onExpired);
  fill(
    container,
    heading,
    elsewhere(challenge.audience),
    facts([
      [
        "It wants to know",
        challenge.scopes.length === 0
          ? "who you are, and nothing else"
          : chips(challenge.scopes),
      ],
      challenge.subject === null
        ? null
        : ["Who may answer", el("code", {}, shown(challenge.subject))],
      admits(challenge.require),
      ["Time left", timer.element],
    ]),
    text === undefined ? null : el("h4", {}, "What it comes to"),
    text === undefined ? null : el(
      "pre",
      { class: "message", tabindex: 0 },
      shown(text, { lines: true }),
    ),
    el(
      "div",
      { class: "actions" },
      el(
        "button",
        { type: "button", onclick: onAnother },
        "Another request",
      ),
    ),
  );
  return { heading, close: timer.close };
}

/**
 * An honest site asks in its own name only.
 *
 * @param {string} audience
 */
function elsewhere(audience) {
  if (audience === location.origin || audience.startsWith("did:")) return null;
  return notice(
    "warning",
    el(
      "p",
      {},
      "Careful: this page is ",
      el("code", {}, location.origin),
      ", and the request is for another site. Approve only if you know why.",
    ),
  );
}

/**
 * @param {unknown} require
 * @returns {[string, HTMLElement] | null}
 */
function admits(require) {
  if (require === null || require === undefined) return null;
  const list = Array.isArray(require) ? require : [require];
  return [
    "It lets in only",
    chips(list.map((each) => typeof each === "string" ? each : shown(each))),
  ];
}

/**
 * @param {import("./api.js").Challenge} challenge
 * @param {() => Date} now
 * @param {() => void} onExpired
 */
function createTimer(challenge, now, onExpired) {
  const expires = Date.parse(challenge.expires_at);
  const total = Math.max(1, (expires - now().getTime()) / 1000);
  const digits = el("span", { class: "digits", role: "timer" });
  const bar = el("progress", { max: total, "aria-hidden": "true" });
  const aloud = el("span", { class: "visually-hidden", "aria-live": "polite" });
  let lastCall = false;
  function tick() {
    const left = (expires - now().getTime()) / 1000;
    digits.textContent = left > 0 ? countdown(left) : "expired";
    bar.value = Math.max(0, left);
    bar.classList.toggle("low", left <= LAST_CALL_SECONDS);
    if (left <= LAST_CALL_SECONDS && !lastCall && left > 0) {
      lastCall = true;
      aloud.textContent = `${Math.ceil(left)} seconds left`;
    }
    if (left > 0) return;
    stop();
    onExpired();
  }
  const interval = setInterval(tick, TICK_MS);
  const stop = () => clearInterval(interval);
  tick();
  return {
    element: el("span", { class: "time-left" }, digits, bar, aloud),
    close() {
      stop();
      digits.textContent = "answered";
      bar.remove();
    },
  };
}
