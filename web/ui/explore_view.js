// @ts-check
/// <reference lib="dom" />
/** The explorer: a feed, verified here, and what it says. @module */

import { createAskForm } from "./ask_form.js";
import {
  DocumentsError,
  fetchDocuments,
  readFiles,
  readOne,
  readTexts,
} from "./documents.js";
import { bringIntoView, byId, el, focusOn } from "./dom.js";
import { checkFeed } from "./feed_check.js";
import { showRelationships } from "./relationships.js";
import { showTimeline } from "./timeline.js";
import { showNoVerdict, showProgress, showVerdict } from "./verdict.js";
import { isSigError } from "./verify.js";

/**
 * @param {import("./api.js").Config} config
 */
export function createExplorer(config) {
  const issuer = byId("issuer", HTMLSelectElement);
  const verdict = byId("verdict", HTMLElement);
  const verdictCard = byId("verdict-card", HTMLElement);
  const views = byId("feed-views", HTMLElement);
  const askForm = createAskForm();
  /** Only the newest run may show its result. */
  let newestRun = 0;

  issuer.append(
    ...config.issuers.map(({ did }, i) => el("option", { value: i }, did)),
  );
  const none = config.issuers.length === 0;
  byId("issuer-form", HTMLFormElement).hidden = none;
  byId("issuer-none", HTMLElement).hidden = !none;
  byId("own-documents", HTMLDetailsElement).open = none;

  byId("issuer-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    void openIssuer(Number(issuer.value));
  });
  byId("documents-form", HTMLFormElement).addEventListener(
    "submit",
    (event) => {
      event.preventDefault();
      void run(readPasted, ownSource);
    },
  );
  byId("files", HTMLInputElement).addEventListener("change", (event) => {
    const input = /** @type {HTMLInputElement} */ (event.target);
    const files = [...input.files ?? []];
    if (files.length > 0) void run(() => readFiles(files), ownSource);
    // The same files may be chosen again after they were changed.
    input.value = "";
  });
  acceptDrops(byId("drop", HTMLElement), (files) => {
    void run(() => readFiles(files), ownSource);
  });

  /** @param {number} index */
  async function openIssuer(index) {
    const known = config.issuers[index];
    if (known === undefined) return;
    issuer.value = String(index);
    await run(() => fetchDocuments(known.base), {
      source: known.did,
      expectedIssuer: known.did,
    });
  }

  /**
   * @param {() => import("./documents.js").Documents | Promise<import("./documents.js").Documents>} read
   * @param {{ source: string, expectedIssuer?: string }} from
   */
  async function run(read, { source, expectedIssuer }) {
    const number = ++newestRun;
    const isNewest = () => number === newestRun;
    verdict.hidden = false;
    views.hidden = true;
    try {
      const documents = await read();
      if (!isNewest()) return;
      const onProgress = showProgress(verdictCard, documents.feed.length);
      bringIntoView(verdict);
      const checked = await checkFeed(documents, {
        onProgress,
        ...(expectedIssuer === undefined ? {} : { expectedIssuer }),
      });
      if (!isNewest()) return;
      showVerdict(verdictCard, checked, expectedIssuer !== undefined);
      const { state, events } = checked;
      views.hidden = state === undefined;
      if (state !== undefined) {
        askForm.setFeed({ state, events, source });
        showRelationships(byId("relationships", HTMLElement), state);
        showTimeline(byId("timeline", HTMLElement), events);
      }
    } catch (error) {
      if (!isNewest()) return;
      showNoVerdict(verdictCard, whyNot(error));
    }
    focusOn(byId("verdict-title", HTMLElement));
  }

  return { openIssuer };
}

/** Where a person would have saved documents of their own. */
const ownSource = Object.freeze({ source: "./issuer" });

function readPasted() {
  /** @param {string} id */
  const text = (id) => byId(id, HTMLTextAreaElement).value;
  const all = text("paste-all");
  if (all.trim() !== "") return readOne(all);
  return readTexts({
    metadata: text("paste-metadata"),
    jwks: text("paste-jwks"),
    did_document: text("paste-did"),
    feed: text("paste-events"),
  });
}

/** @param {unknown} error */
function whyNot(error) {
  if (error instanceof DocumentsError || isSigError(error)) {
    return error.message;
  }
  return "Something went wrong in this browser. Try again.";
}

/**
 * @param {HTMLElement} area
 * @param {(files: readonly File[]) => void} onFiles
 */
function acceptDrops(area, onFiles) {
  area.addEventListener("dragover", (event) => {
    event.preventDefault();
    area.classList.add("over");
  });
  area.addEventListener("dragleave", () => area.classList.remove("over"));
  area.addEventListener("drop", (event) => {
    event.preventDefault();
    area.classList.remove("over");
    const files = [...event.dataTransfer?.files ?? []];
    if (files.length > 0) onFiles(files);
  });
}
