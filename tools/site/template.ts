/** What stands around each page: head, navigation, search, contents. @module */

import { escapeHtml } from "../../api/pages/html.ts";
import { relativePath } from "./page_list.ts";
import type { RenderedPage } from "./render_page.ts";

/** A page and its place. */
export interface SitePage extends RenderedPage {
  /** From the site's root. */
  readonly output: string;
  /** What the navigation calls it. */
  readonly name: string;
}

/** A part of the navigation. */
export interface SiteGroup {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

/** Writes a whole page. It works from a web server and from a folder. */
export function renderTemplate(
  page: SitePage,
  groups: readonly SiteGroup[],
): string {
  const to = (path: string) => relativePath(page.output, path);
  const pages = groups.flatMap((group) => group.pages);
  const at = pages.findIndex(({ output }) => output === page.output);
  const title = page.output === "index.html"
    ? "SIG for Deno"
    : `${page.title} · SIG for Deno`;
  const minutes = page.minutes === 1 ? "1 minute" : `${page.minutes} minutes`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${to("icon.svg")}">
<link rel="stylesheet" href="${to("site.css")}">
<script src="${to("site.js")}" defer></script>
</head>
<body data-root="${to("")}">
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${to("index.html")}"><img src="${
    to("icon.svg")
  }" alt="" width="24" height="24">SIG for Deno</a>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search (/)" aria-label="Search these pages" autocomplete="off" spellcheck="false" aria-controls="results">
<div id="results" role="region" aria-label="Results" aria-live="polite" hidden></div>
</div>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages"><details open><summary>All pages</summary>${
    groups.map(({ title, pages }) =>
      `<h2>${escapeHtml(title)}</h2><ul>${
        pages.map(({ output, name }) =>
          `<li><a href="${to(output)}"${
            output === page.output ? ' aria-current="page"' : ""
          }>${escapeHtml(name)}</a></li>`
        ).join("")
      }</ul>`
    ).join("")
  }</details></nav>
<main id="content">
<p class="time">${minutes} to read</p>
${page.html}
<nav class="neighbours" aria-label="Neighbours">${
    neighbour(pages[at - 1], "Before", to)
  }${neighbour(pages[at + 1], "Next", to)}</nav>
</main>
${contents(page)}
</div>
</body>
</html>
`;
}

function neighbour(
  page: SitePage | undefined,
  word: string,
  to: (path: string) => string,
): string {
  if (page === undefined) return "<span></span>";
  return `<a href="${to(page.output)}"><span>${word}</span>${
    escapeHtml(page.name)
  }</a>`;
}

/** What a page has more sections than, gets no list of the smaller ones. */
const MAX_LISTED = 30;

function contents({ sections }: SitePage): string {
  const below = sections.slice(1);
  const shown = below.length > MAX_LISTED
    ? below.filter(({ depth }) => depth === 2)
    : below.filter(({ depth }) => depth <= 3);
  if (shown.length < 2) return '<div class="contents"></div>';
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${
    shown.map(({ id, title, depth }) =>
      `<li class="depth-${depth}"><a href="#${id}">${
        escapeHtml(title)
      }</a></li>`
    ).join("")
  }</ul></nav>`;
}
