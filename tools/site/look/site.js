/** Search and copy buttons; every page reads well without them. @module */

import MiniSearch from "minisearch";

const root = document.body.dataset.root;
const input = document.getElementById("search");
const results = document.getElementById("results");
const MAX_RESULTS = 12;
/** Characters shown around what was found. */
const EXCERPT = 140;

/** A promise of the index; made by the first who looks for something. */
let index;

function loadIndex() {
  return index ??= new Promise((resolve, reject) => {
    // As a script, and not fetched, so that it works from a folder too.
    const script = document.createElement("script");
    script.src = `${root}sections.js`;
    script.onerror = reject;
    script.onload = () => resolve(createIndex(globalThis.SIG_SECTIONS));
    document.head.append(script);
  });
}

function createIndex(sections) {
  const search = new MiniSearch({
    fields: ["title", "page", "text"],
    storeFields: ["url", "title", "page", "text"],
    // Words as people type them: `--max-age`, `feed_stale`, did:web.
    tokenize: (text) => text.split(/[^\p{L}\p{N}_-]+/u),
    searchOptions: {
      boost: { title: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => term.length > 4 ? 0.2 : 0,
      combineWith: "AND",
    },
  });
  search.addAll(
    sections.map(([url, page, title, text], id) => (
      { id, url, page, title, text }
    )),
  );
  return search;
}

async function show() {
  const words = input.value.trim();
  if (words === "") {
    results.hidden = true;
    return;
  }
  const found = (await loadIndex()).search(words).slice(0, MAX_RESULTS);
  if (input.value.trim() !== words) return;
  results.replaceChildren(
    ...found.length > 0 ? found.map(toResult) : [nothing()],
  );
  results.hidden = false;
}

function toResult({ url, page, title, text, terms }) {
  const link = document.createElement("a");
  link.href = root + url;
  const strong = document.createElement("strong");
  strong.textContent = title;
  const small = document.createElement("small");
  small.textContent = title === page ? "" : page;
  const excerpt = document.createElement("span");
  excerpt.textContent = excerptOf(text, terms);
  link.append(strong, small, excerpt);
  return link;
}

function excerptOf(text, terms) {
  const places = terms.map((term) => text.toLowerCase().indexOf(term));
  const at = Math.max(
    0,
    Math.min(...places.filter((place) => place >= 0), text.length),
  );
  const near = at === text.length ? 0 : Math.max(0, at - EXCERPT / 3);
  const from = near === 0 ? 0 : text.indexOf(" ", near) + 1;
  const part = text.slice(from, from + EXCERPT);
  return (from > 0 ? "… " : "") + part +
    (from + EXCERPT < text.length ? " …" : "");
}

function nothing() {
  const none = document.createElement("p");
  none.textContent = "Nothing found. Try one word less.";
  return none;
}

input.addEventListener("focus", () => void loadIndex());
input.addEventListener("input", () => void show());

document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape") {
    results.hidden = true;
  } else if (event.key === "Enter" && document.activeElement === input) {
    // What was typed last may not have been looked for yet.
    void show().then(() => results.querySelector("a")?.click());
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    move(event);
  }
});

/** Arrows walk through input and results. */
function move(event) {
  const stops = [input, ...results.querySelectorAll("a")];
  const at = stops.indexOf(document.activeElement);
  if (results.hidden || at < 0) return;
  event.preventDefault();
  const step = event.key === "ArrowDown" ? 1 : -1;
  stops[Math.min(stops.length - 1, Math.max(0, at + step))].focus();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) results.hidden = true;
});

// On narrow screens the pages are folded away, and their button shows them.
const pages = document.querySelector(".pages details");
if (matchMedia("(max-width: 60rem)").matches) pages.open = false;

// Clipboards exist on https and localhost; elsewhere there is no button.
for (
  const block of navigator.clipboard ? document.querySelectorAll(".code") : []
) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(
      block.querySelector("code").textContent,
    );
    button.textContent = "Copied";
    setTimeout(() => button.textContent = "Copy", 2000);
  });
  block.append(button);
}
