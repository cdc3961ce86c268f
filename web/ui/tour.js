// @ts-check
/// <reference lib="dom" />
/**
 * The guided path of the demo: be hired, sign in, be let go, be refused. What
 * it shows of the issuer comes from its feed, verified here.
 *
 * @module
 */

import { Problem } from "./api.js";
import { byId, el, fill, focusOn, icon, shown } from "./dom.js";
import { namesIn, shortItem } from "./event_items.js";
import { counted } from "./format.js";

const SHOWN_EVENTS = 6;

/**
 * @param {object} options
 * @param {import("./api.js").Config} options.config
 * @param {import("./api.js").Api} options.api
 * @param {import("./feed_check.js").ReadFeed} options.readFeed
 * @param {() => void} options.onMakeKey
 * @param {() => void} options.onStart
 */
export function createTour({ config, api, readFeed, onMakeKey, onStart }) {
  const steps = byId("tour-steps", HTMLOListElement);
  const issuer = config.issuer ?? config.issuers[0]?.did ?? "";
  byId("tour", HTMLElement).hidden = false;
  fill(
    byId("tour-intro", HTMLElement),
    "The issuer ",
    el("code", {}, shown(issuer)),
    " publishes who works for it, signed. This site lets in only them. Every step is real.",
  );

  /** @type {import("./key_store.js").StoredKey | undefined} */
  let key;
  /** @type {import("./verify.js").RelationshipState | undefined} */
  let relationship;
  let signedIn = false;
  let refused = false;
  /** @type {HTMLElement | undefined} The heading of a request without answer. */
  let waiting;
  let busy = false;
  /** What went wrong in this card, if anything. */
  let trouble = "";
  let name = "Alice";

  const isActive = () => relationship?.status === "active";
  const isRevoked = () => relationship?.status === "revoked";

  /** @returns {number} The step to do now; 5 is the end. */
  function current() {
    if (key === undefined) return 0;
    if (relationship === undefined) return 1;
    if (isActive()) return signedIn ? 3 : 2;
    return refused ? 5 : 4;
  }

  function render() {
    const now = current();
    const stories = [
      step("Make a key", "It is your name here.", () => [
        button("Make my key", onMakeKey),
      ]),
      step("Be hired", "The issuer signs that you are an employee.", enrolForm),
      step(
        "Sign in",
        "The site reads the feed and lets you in.",
        () => signInControls("Start sign-in"),
      ),
      step("Be let go", "The issuer signs that it is over.", () => [
        button("Revoke me as the issuer would", () => void revoke()),
      ]),
      step(
        "Try again",
        "The same key, the same site, and now a no.",
        () => signInControls("Start sign-in again"),
      ),
    ];
    fill(
      steps,
      ...stories.map(({ title, detail, controls }, i) => {
        const state = i < now ? "done" : i === now ? "now" : "later";
        return el(
          "li",
          { "data-state": state, "aria-current": state === "now" && "step" },
          state === "done" ? icon("yes") : null,
          el(
            "div",
            {},
            el("strong", {}, title),
            state === "done"
              ? el("span", { class: "visually-hidden" }, " (done)")
              : null,
            state === "now" ? el("p", {}, detail) : null,
            ...(state === "now" ? controls() : []),
          ),
        );
      }),
      now === 5
        ? el(
          "li",
          { "data-state": "now", class: "tour-end" },
          el(
            "div",
            {},
            el("strong", {}, "That is the whole idea."),
            el(
              "p",
              {},
              "Nobody told the site that you left. It read the same public feed as anyone.",
            ),
            ...enrolForm("Be hired again"),
          ),
        )
        : null,
    );
    if (busy) {
      for (const each of steps.querySelectorAll("button")) {
        each.disabled = true;
        each.textContent = "The issuer signs…";
      }
    }
    if (trouble !== "") {
      steps.append(
        el("li", { class: "error", role: "alert" }, el("p", {}, trouble)),
      );
    }
  }

  /** @param {string} label */
  function signInControls(label) {
    const heading = waiting;
    if (heading === undefined) return [button(label, onStart)];
    return [
      el("p", {}, "Now read the request, and approve it."),
      button("Go to the request", () => focusOn(heading)),
    ];
  }

  /** @param {string} [label] */
  function enrolForm(label = "Enrol me") {
    const input = el("input", {
      id: "enrol-name",
      type: "text",
      maxlength: 100,
      autocomplete: "given-name",
      value: name,
    });
    return [
      el(
        "form",
        {
          onsubmit: (event) => {
            event.preventDefault();
            name = input.value.trim();
            void enrol();
          },
        },
        el(
          "div",
          { class: "field" },
          el("label", { for: "enrol-name" }, "Your name there"),
          input,
        ),
        el("button", { type: "submit", class: "primary" }, label),
      ),
    ];
  }

  async function enrol() {
    if (key === undefined) return;
    const subject = key.did;
    await act(async () => {
      const person = { subject, ...(name === "" ? {} : { name }) };
      const { sequence } = await api.enrol(person);
      signedIn = false;
      refused = false;
      return sequence;
    });
  }

  async function revoke() {
    const id = relationship?.relationship_id;
    if (id === undefined) return;
    await act(async () => (await api.revoke(id)).sequence);
  }

  /** @param {() => Promise<number>} work Makes an event; its sequence. */
  async function act(work) {
    trouble = "";
    busy = true;
    render();
    let sequence = 0;
    try {
      sequence = await work();
    } catch (error) {
      trouble = error instanceof Problem
        ? shown(error.message)
        : "Something went wrong. Try again.";
    }
    await refresh(sequence);
    /** @type {HTMLElement | null} */
    const next = steps.querySelector("[data-state=now] :is(button, input)");
    next?.focus();
  }

  /**
   * Reads the feed anew.
   *
   * @param {number} [minSequence] It must have got as far as this.
   */
  async function refresh(minSequence) {
    const feed = await readFeed(issuer, minSequence).catch(() => undefined);
    busy = false;
    relationship = undefined;
    const verdict = byId("tour-feed-verdict", HTMLElement);
    const newest = byId("tour-feed", HTMLOListElement);
    if (feed?.state === undefined) {
      fill(verdict, "The feed could not be verified. Open it in the explorer.");
      fill(newest);
    } else {
      const names = namesIn(feed.events);
      fill(
        verdict,
        icon("yes"),
        `${
          counted(feed.events.length, "event")
        }, each signature verified in this browser`,
      );
      fill(
        newest,
        ...feed.events.slice(-SHOWN_EVENTS).reverse().map((each) =>
          shortItem(each, names)
        ),
      );
      if (key !== undefined) relationship = latestOf(feed.state, key.did);
    }
    render();
  }

  render();
  return {
    /** @param {import("./key_store.js").StoredKey | undefined} newKey */
    async setKey(newKey) {
      key = newKey;
      signedIn = false;
      refused = false;
      await refresh();
    },
    /** @param {HTMLElement | undefined} heading */
    noteRequest(heading) {
      waiting = heading;
      render();
    },
    /** @param {import("./api.js").Login | Problem} outcome */
    noteOutcome(outcome) {
      if (!(outcome instanceof Problem)) {
        signedIn ||= outcome.subject === key?.did;
      } else if (outcome.code === "relationship_denied" && isRevoked()) {
        refused = true;
      }
      render();
    },
  };
}

/**
 * What the feed last said about a subject.
 *
 * @param {import("./verify.js").FeedState} state
 * @param {string} subject
 */
function latestOf(state, subject) {
  const own = [...state.by_relationship_id.values()].filter((each) =>
    each.subject === subject
  );
  return own.sort((a, b) => b.last_sequence - a.last_sequence)[0];
}

/**
 * @param {string} title
 * @param {string} detail
 * @param {() => HTMLElement[]} controls
 */
function step(title, detail, controls) {
  return { title, detail, controls };
}

/**
 * @param {string} label
 * @param {() => void} onclick
 */
function button(label, onclick) {
  return el("button", { type: "button", class: "primary", onclick }, label);
}
