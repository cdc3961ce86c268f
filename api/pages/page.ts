/** The page at `/docs`: the OpenAPI document for people. @module */

import type { OpenApiDocument } from "../openapi/document.ts";
import { SCRIPT, STYLE } from "./page_files.ts";
import {
  type BodyModel,
  type ExampleModel,
  type MemberModel,
  readRoutes,
  type RouteModel,
} from "./route_model.ts";

/** How the examples ask. */
interface PageOptions {
  /** Where the service is reached. */
  readonly base: string;
  /** Whether requests must carry a token. */
  readonly needsToken: boolean;
}

/**
 * Renders the page. It loads nothing, and reads well without its script, which
 * copies commands and asks the service itself.
 */
export function renderPage(
  document: OpenApiDocument,
  options: PageOptions,
): string {
  const routes = readRoutes(document);
  const { title, description, version } = document.info as {
    readonly [member: string]: string;
  };
  return `<!doctype html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<meta name=color-scheme content="light dark">
<title>${escapeHtml(title!)}</title>
<style>${STYLE}</style>
</head>
<body>
<a class=skip href="#content">Skip to the content</a>
<nav aria-label=Routes>
<p class=brand>${ICON}${escapeHtml(title!)}</p>
<details open><summary>All routes</summary>${
    document.tags.map((tag) => renderTag(tag, routes)).join("")
  }</details>
</nav>
<main id=content>
<h1>${escapeHtml(title!)} <span class=note>${escapeHtml(version!)}</span></h1>
<p>${prose(description!)}</p>
<p>For programs: <a href="/openapi.json"><code>/openapi.json</code></a></p>
${options.needsToken ? TOKEN : ""}
${routes.map((each) => renderRoute(each, options)).join("")}
</main>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** The mark of the project, as the login's page has it; within the text. */
const ICON = '<svg viewBox="0 0 32 32" width=24 height=24 aria-hidden=true>' +
  '<rect width=32 height=32 rx=8 fill="#2f5fd0"/>' +
  '<path d="M10 11.5 16 21m0 0 6-9.5M11.5 10h9" fill=none stroke="#fff" stroke-width=2.4 stroke-linecap=round />' +
  '<g fill="#fff"><circle cx=9 cy=10 r=3.2 /><circle cx=22.5 cy=10 r=3.2 /><circle cx=16 cy=22.5 r=3.2 /></g></svg>';

/** The token is never written into the page: who reads it may not have it. */
const TOKEN = `<div hidden>
<label for=token>Token, for trying routes on this page; it is kept nowhere</label>
<input id=token type=password autocomplete=off spellcheck=false></div>`;

function renderTag(
  { name, description }: OpenApiDocument["tags"][number],
  routes: readonly RouteModel[],
): string {
  const links = routes.filter(({ tag }) => tag === name).map((
    { id, method, path, summary },
  ) =>
    `<li><a href="#${id}" title="${escapeHtml(summary.replaceAll("`", ""))}">` +
    `<span class=method>${method}</span> <code>${
      escapeHtml(path)
    }</code></a></li>`
  );
  return `<h2>${prose(description)}</h2><ul>${links.join("")}</ul>`;
}

function renderRoute(route: RouteModel, options: PageOptions): string {
  const { id, method, path, summary, description, isOpen } = route;
  const url = new URL(path, options.base).href;
  const withToken = options.needsToken && !isOpen;
  const [first, ...others] = route.examples.map((example) => ({
    summary: `<p class=note>${prose(example.summary)}</p>`,
    title: prose(example.summary),
    html: renderExample(example, url, withToken),
  }));
  const problems = route.problems.map(({ status, codes }) =>
    `<dt>${status}</dt><dd>${prose(codes)}</dd>`
  );
  return `<section aria-labelledby="${id}">
<h2 id="${id}"><span class=method>${method}</span> <code>${
    escapeHtml(path)
  }</code></h2>
<p><strong>${prose(summary)}</strong></p>
${
    first
      ? first.summary + first.html
      : renderExample(NO_EXAMPLE, url, withToken)
  }
${
    others.map(({ title, html }) =>
      `<details><summary>${title}</summary>${html}</details>`
    ).join("")
  }
${renderTry(route)}
<p>${prose(description)}</p>
${route.request ? renderBody("Request", route.request) : ""}
${renderBody("Answer", route.answer)}
<details><summary>Errors</summary><dl>${problems.join("")}</dl></details>
</section>`;
}

const NO_EXAMPLE: ExampleModel = {
  summary: "",
  request: undefined,
  answer: undefined,
};

/** A command, and what it really prints: a test asks it. */
function renderExample(
  { request, answer }: ExampleModel,
  url: string,
  withToken: boolean,
): string {
  return `<div class=command>${pre(toCurl(url, withToken, request))}</div>${
    answer === undefined
      ? ""
      : `<div class=answer>${pre(JSON.stringify(answer, null, 2))}</div>`
  }`;
}

/** Hidden until the script is there: without it nothing would be sent. */
function renderTry(route: RouteModel): string {
  const { id, method, path, examples, answer } = route;
  if (answer.type !== "application/json") return "";
  const [example] = examples;
  const text = JSON.stringify(example?.request, null, 2);
  const rows = Math.min(16, text?.split("\n").length ?? 0);
  const body = text === undefined
    ? ""
    : `<label for="${id}-body">Body; name an issuer that this service answers about</label>` +
      `<textarea id="${id}-body" rows=${rows} spellcheck=false>${
        escapeHtml(text)
      }</textarea>`;
  return `<details hidden><summary>Try it here</summary><form class=try data-method=${method} data-path="${
    escapeHtml(path)
  }">${body}<button>Send</button><output aria-live=polite></output></form></details>`;
}

function renderBody(title: string, body: BodyModel): string {
  const shapes = body.shapes.map(({ description, members }) =>
    (description ? `<p>${prose(description)}</p>` : "") +
    renderMembers(members)
  );
  return `<details><summary>${title}</summary><p>${
    prose(body.description)
  } <span class=note>${escapeHtml(body.type)}</span></p>${
    shapes.join("<p class=note>or</p>")
  }</details>`;
}

function renderMembers(members: readonly MemberModel[]): string {
  if (members.length === 0) return "";
  const rows = members.map(({ name, kind, note, description, members }) =>
    `<dt><code>${escapeHtml(name)}</code> <span class=note>${
      escapeHtml(note ? `${kind}, ${note}` : kind)
    }</span></dt><dd>${prose(description)}${renderMembers(members)}</dd>`
  );
  return `<dl>${rows.join("")}</dl>`;
}

function pre(text: string): string {
  return `<pre tabindex=0><code>${escapeHtml(text)}</code></pre>`;
}

/** The request as a command. */
function toCurl(url: string, withToken: boolean, body: unknown): string {
  const lines = [`curl -sS ${quoteForShell(url)}`];
  if (withToken) lines.push(`-H "authorization: Bearer $SIG_TOKEN"`);
  if (body !== undefined) {
    lines.push(
      "-H 'content-type: application/json'",
      `-d ${quoteForShell(JSON.stringify(body))}`,
    );
  }
  return lines.join(" \\\n  ");
}

function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const ENTITIES: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text that stays text, in content and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

/** Text in which `code` stands between backticks. */
export function prose(text: string): string {
  return text.split("`").map((part, i) =>
    i % 2 === 0 ? escapeHtml(part) : `<code>${escapeHtml(part)}</code>`
  ).join("");
}
