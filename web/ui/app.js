// @ts-check
/// <reference lib="dom" />
/** The page's beginning: configuration, the two views, and the way between. @module */

import { createApi } from "./api.js";
import { fetchDocuments } from "./documents.js";
import { byId, el, fill, focusOn, notice, shown } from "./dom.js";
import { createExplorer } from "./explore_view.js";
import { checkFeed } from "./feed_check.js";
import { createLog } from "./log.js";
import { createSignIn } from "./sign_in_view.js";
import { createTour } from "./tour.js";

const VIEWS = Object.freeze({
  "sign-in": {
    title: "Sign in",
    lede:
      "With a key that never leaves this browser. No password, and the site learns only what you approve.",
  },
  explore: {
    title: "Explore a feed",
    lede:
      "Every signature is verified in this browser. Nobody has to be believed, this server included.",
  },
});

/** A server may pass on a feed that is some seconds old. */
const READ_AGAIN_MS = 400;
const MAX_READS = 20;

const pageNotice = byId("page-notice", HTMLElement);

byId("skip-link", HTMLElement).addEventListener("click", (event) => {
  // The fragment is the view's name; it stays.
  event.preventDefault();
  byId("main", HTMLElement).focus();
});
showView(false);
void begin();

async function begin() {
  const api = createApi(createLog(byId("log-entries", HTMLElement)));
  /** @type {import("./api.js").Config} */
  let config;
  try {
    config = await api.config();
  } catch (error) {
    const why = error instanceof Error ? error.message : "";
    fill(
      pageNotice,
      notice(
        "danger",
        el("p", {}, shown(why), " Reload this page to try again."),
      ),
    );
    return;
  }

  /** @type {import("./feed_check.js").ReadFeed} */
  const readFeed = async (did, minSequence = 0) => {
    const known = config.issuers.find((issuer) => issuer.did === did);
    if (known === undefined) return undefined;
    for (let tries = 1;; tries++) {
      const documents = await fetchDocuments(known.base);
      const feed = await checkFeed(documents, { expectedIssuer: did });
      const last = feed.state?.last_sequence ?? Infinity;
      if (last >= minSequence || tries === MAX_READS) return feed;
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
  };

  const tour = config.demo
    ? createTour({
      config,
      api,
      readFeed,
      onMakeKey: () => void signIn.makeKey(),
      onStart: () => void signIn.start(),
    })
    : undefined;
  const signIn = await createSignIn({
    config,
    api,
    readFeed,
    watcher: {
      onKey: (key) => void tour?.setKey(key),
      onRequest: (heading) => tour?.noteRequest(heading),
      onOutcome: (outcome) => tour?.noteOutcome(outcome),
    },
  });
  await tour?.setKey(signIn.currentKey());

  const explorer = createExplorer(config);
  const openLinked = () => {
    const index = /^#explore\/(\d+)$/.exec(location.hash)?.[1];
    if (index !== undefined) void explorer.openIssuer(Number(index));
  };
  addEventListener("hashchange", () => {
    showView(true);
    openLinked();
  });
  openLinked();
  document.documentElement.dataset.ready = "true";
}

/**
 * Shows the view that the address names.
 *
 * @param {boolean} moved Whether the person came here within the page.
 */
function showView(moved) {
  const name = /^#explore(\/|$)/.test(location.hash) ? "explore" : "sign-in";
  const { title, lede } = VIEWS[name];
  const heading = byId("page-title", HTMLElement);
  heading.textContent = title;
  byId("page-lede", HTMLElement).textContent = lede;
  document.title = `${title} · SIG`;
  for (
    const each of /** @type {(keyof typeof VIEWS)[]} */ (Object.keys(VIEWS))
  ) {
    byId(`${each}-view`, HTMLElement).hidden = each !== name;
    const link = byId(`nav-${each}`, HTMLElement);
    if (each === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!moved) return;
  scrollTo({ top: 0 });
  focusOn(heading);
}
