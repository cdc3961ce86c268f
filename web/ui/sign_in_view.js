// @ts-check
/// <reference lib="dom" />
/**
 * The login: request, key, answer, result. Long because its steps share the
 * state of one login, which nothing else may see.
 *
 * @module
 */

import { isRecord, Problem } from "./api.js";
import { showApproval } from "./approve_card.js";
import {
  attest,
  clockOf,
  decodeAttestation,
  readRequest,
} from "./attestation.js";
import { byId, el, fill, focusOn, notice } from "./dom.js";
import { showKey } from "./key_card.js";
import { createKey, findMissing, forgetKey, loadKey } from "./key_store.js";
import { showRequest } from "./request_card.js";
import {
  showDeclined,
  showRefusal,
  showSuccess,
  showWhy,
} from "./result_card.js";
import { check, isSigError } from "./verify.js";

/** Refusals after which the request has no use. */
const OVER = new Set([
  "challenge_burned",
  "challenge_expired",
  "challenge_not_found",
  "challenge_used",
  "relationship_denied",
]);

/** @typedef {import("./api.js").Challenge} Challenge */
/** @typedef {import("./api.js").Login} Login */
/** @typedef {import("./key_store.js").StoredKey} StoredKey */

/**
 * What others are told of.
 *
 * @typedef {object} Watcher
 * @property {(key: StoredKey | undefined) => void} onKey
 * @property {(heading: HTMLElement | undefined) => void} onRequest That one
 *   waits for an answer, or none does.
 * @property {(outcome: Login | Problem) => void} onOutcome
 */

/**
 * @param {object} options
 * @param {import("./api.js").Config} options.config
 * @param {import("./api.js").Api} options.api
 * @param {import("./feed_check.js").ReadFeed} options.readFeed
 * @param {Watcher} options.watcher
 */
export async function createSignIn({ config, api, readFeed, watcher }) {
  const requestForm = byId("request-form", HTMLFormElement);
  const requestCard = byId("request-card", HTMLElement);
  const keyCard = byId("key-card", HTMLElement);
  const approveCard = byId("approve-card", HTMLElement);
  const resultCard = byId("result-card", HTMLElement);
  const startButton = byId("start", HTMLButtonElement);
  const scopes = byId("scopes", HTMLInputElement);
  const audience = byId("audience", HTMLSelectElement);
  const ttl = byId("ttl", HTMLInputElement);
  const pin = byId("pin-subject", HTMLInputElement);

  const missing = await findMissing();
  /** @type {StoredKey | undefined} */
  let key = missing === undefined ? await loadKey() : undefined;
  /** @type {{ challenge: Challenge, fault: string | undefined, now: () => Date, close(): void } | undefined} */
  let request;
  let expired = false;
  let answered = false;
  let busy = false;

  audience.append(
    ...config.audiences.map((each) => el("option", { value: each }, each)),
  );
  byId("audience-field", HTMLElement).hidden = config.audiences.length < 2;
  ttl.value = String(config.ttl_seconds);
  requestForm.addEventListener("submit", (event) => {
    event.preventDefault();
    void start();
  });
  renderKey();
  renderApproval();
  clearResult();

  async function start() {
    if (busy) return;
    dropRequest();
    clearResult();
    setBusy(true);
    try {
      const challenge = await api.createChallenge({
        audience: audience.value,
        scopes: [...new Set(scopes.value.split(/\s+/).filter(Boolean))],
        ttl_seconds: Number(ttl.value),
        ...(pin.checked && key ? { subject: key.did } : {}),
      });
      const now = clockOf(challenge);
      const { text, fault } = readRequest(challenge);
      expired = false;
      requestForm.hidden = true;
      requestCard.hidden = false;
      const { heading, close } = showRequest(requestCard, {
        challenge,
        text,
        now,
        onExpired() {
          expired = true;
          if (answered) return;
          renderApproval();
          watcher.onRequest(undefined);
        },
        onAnother() {
          if (busy) return;
          dropRequest();
          clearResult();
          watcher.onRequest(undefined);
          scopes.focus();
        },
      });
      request = { challenge, fault, now, close };
      renderKey();
      renderApproval();
      watcher.onRequest(heading);
      focusOn(heading);
    } catch (error) {
      refuse(error);
    } finally {
      setBusy(false);
    }
  }

  function dropRequest() {
    request?.close();
    request = undefined;
    answered = false;
    requestCard.replaceChildren();
    requestCard.hidden = true;
    requestForm.hidden = false;
    renderApproval();
  }

  async function makeKey() {
    try {
      key = await createKey();
    } catch {
      fill(
        keyCard,
        notice(
          "danger",
          el("p", {}, "This browser did not keep the key. Try again."),
        ),
      );
      return;
    }
    renderKey();
    renderApproval();
    watcher.onKey(key);
    focusOn(byId(request ? "approve-title" : "key-title", HTMLElement));
  }

  async function forget() {
    await forgetKey();
    key = undefined;
    pin.checked = false;
    renderKey();
    renderApproval();
    watcher.onKey(undefined);
    focusOn(byId("key-title", HTMLElement));
  }

  /** @param {readonly string[]} granted */
  async function approve(granted) {
    if (!request || !key || busy) return;
    try {
      const { challenge, now } = request;
      await send(await attest(challenge, key, granted, now));
    } catch (error) {
      refuse(error);
    }
  }

  /** @param {string} attestation */
  async function send(attestation) {
    if (busy) return;
    setBusy(true);
    fill(resultCard, el("p", { class: "quiet" }, "The site checks it…"));
    try {
      const login = await api.verifyAttestation(attestation);
      settle();
      focusOn(showSuccess(resultCard, login, start));
      watcher.onOutcome(login);
    } catch (error) {
      refuse(error, subjectOf(attestation));
    } finally {
      setBusy(false);
    }
  }

  /**
   * @param {unknown} error
   * @param {string} [subject] Who is refused.
   */
  function refuse(error, subject) {
    const problem = toProblem(error);
    const { heading, why } = showRefusal(resultCard, problem, start);
    // Any other answer may be corrected while the request lasts.
    if (request && OVER.has(problem.code)) settle();
    setStep("step-result", "now");
    focusOn(heading);
    watcher.onOutcome(problem);
    if (problem.code === "relationship_denied" && subject !== undefined) {
      void explain(why, subject, lastSequenceIn(problem));
    }
  }

  /**
   * The server says no; the feed itself says why, and anyone can check it.
   *
   * @param {HTMLElement} container
   * @param {string} subject
   * @param {number} minSequence What the server had seen.
   */
  async function explain(container, subject, minSequence) {
    const { issuer, require } = config;
    if (issuer === null || require === null) return;
    const feed = await readFeed(issuer, minSequence).catch(() => undefined);
    if (feed?.state === undefined) return;
    const answer = check(feed.state, {
      subject,
      require,
      explain: true,
      now: new Date(),
    });
    if (answer.decision === "deny") showWhy(container, answer);
  }

  function decline() {
    settle();
    focusOn(showDeclined(resultCard, start));
  }

  /** The request has its answer. */
  function settle() {
    request?.close();
    answered = true;
    watcher.onRequest(undefined);
    fill(approveCard, el("p", { class: "quiet" }, "Answered. See the result."));
    renderSteps();
  }

  function clearResult() {
    fill(
      resultCard,
      el("p", { class: "quiet" }, "Nothing yet."),
    );
    renderSteps();
  }

  function renderKey() {
    pin.disabled = key === undefined;
    showKey(keyCard, {
      key,
      missing,
      wanted: request !== undefined,
      onCreate: () => void makeKey(),
      onForget: () => void forget(),
    });
    renderSteps();
  }

  function renderApproval() {
    // What was answered can't be answered again.
    if (answered) return;
    showApproval(approveCard, {
      challenge: request?.challenge,
      fault: request?.fault,
      key,
      expired,
      canHoldKeys: missing === undefined,
      onApprove: (granted) => void approve(granted),
      onDecline: decline,
      onAnswer: (attestation) => void send(attestation),
      onAgain: () => void start(),
    });
    renderSteps();
  }

  /** @param {boolean} on */
  function setBusy(on) {
    busy = on;
    startButton.setAttribute("aria-busy", String(on));
    for (const button of approveCard.querySelectorAll("button")) {
      button.disabled = on;
    }
  }

  function renderSteps() {
    const asked = request !== undefined;
    const keyed = key !== undefined || missing !== undefined;
    setStep("step-request", asked ? "done" : "now");
    setStep("step-key", keyed ? "done" : asked ? "now" : "later");
    setStep(
      "step-approve",
      answered ? "done" : asked && keyed ? "now" : "later",
    );
    setStep("step-result", answered ? "now" : "later");
  }

  return { start, makeKey, currentKey: () => key };
}

/**
 * @param {string} id
 * @param {"done" | "now" | "later"} state
 */
function setStep(id, state) {
  byId(id, HTMLElement).dataset.state = state;
}

/**
 * Who an attestation is of, by its own words.
 *
 * @param {string} attestation
 * @returns {string | undefined}
 */
function subjectOf(attestation) {
  const claims = decodeAttestation(attestation)?.claims;
  return isRecord(claims) && typeof claims.sub === "string" && claims.sub !== ""
    ? claims.sub
    : undefined;
}

/**
 * The last event that the server's reasons speak of.
 *
 * @param {Problem} problem
 */
function lastSequenceIn({ body }) {
  const reasons = Array.isArray(body.reasons) ? body.reasons : [];
  return Math.max(0, ...reasons.map((each) => Number(each?.sequence ?? 0)));
}

/**
 * @param {unknown} error
 * @returns {Problem}
 */
function toProblem(error) {
  if (error instanceof Problem) return error;
  if (isSigError(error)) {
    return new Problem(error.code, error.message, { ...error.context });
  }
  return new Problem(
    "sign_failed",
    "This browser did not sign. Reload the page and try again.",
  );
}
