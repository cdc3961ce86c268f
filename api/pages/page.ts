/** The page at `/docs`: the OpenAPI document for people. @module */

import type { OpenApiDocument } from "../openapi/document.ts";
import { escapeHtml, prose } from "./html.ts";
import {
  type BodyModel,
  type MemberModel,
  readRoutes,
  type RouteModel,
} from "./route_model.ts";
import { STYLE } from "./style.ts";

/** How the examples ask. */
export interface PageOptions {
  /** Where the service is reached. */
  readonly base: string;
  /** Whether requests must carry a token. */
  readonly needsToken: boolean;
}

/**
 * Renders the page. It needs no script, and loads nothing.
 */
export function renderPage(
  document: OpenApiDocument,
  options: PageOptions,
): string {
  const routes = readRoutes(document);
  const links = routes.map(({ id, method, path, summary }) =>
    `<li><a href="#${id}"><span class=method>${method}</span> <code>${
      escapeHtml(path)
    }</code></a> ${prose(summary)}</li>`
  );
  const sections = routes.map((each) => renderRoute(each, options));
  const { title, description, version } = document.info as {
    readonly [member: string]: string;
  };
  return `<!doctype html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<title>${escapeHtml(title!)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${escapeHtml(title!)} <span class=note>${escapeHtml(version!)}</span></h1>
<p>${prose(description!)}</p>
<p>For programs: <a href="/openapi.json"><code>/openapi.json</code></a></p>
</header>
<nav aria-label=Routes><ul>${links.join("")}</ul></nav>
<main>${sections.join("")}</main>
</body>
</html>
`;
}

function renderRoute(
  { id, method, path, summary, description, ...route }: RouteModel,
  { base, needsToken }: PageOptions,
): string {
  const url = new URL(path, base).href;
  const examples = route.examples.map(({ summary, request, answer }, i) =>
    `<details${i === 0 ? " open" : ""}><summary>${prose(summary)}</summary>${
      pre(toCurl(url, needsToken && !route.isOpen, request))
    }${
      answer === undefined ? "" : pre(JSON.stringify(answer, null, 2))
    }</details>`
  );
  const problems = route.problems.map(({ status, codes }) =>
    `<dt>${status}</dt><dd>${prose(codes)}</dd>`
  );
  return `<section aria-labelledby="${id}">
<h2 id="${id}"><span class=method>${method}</span> <code>${
    escapeHtml(path)
  }</code></h2>
<p><strong>${prose(summary)}</strong></p>
<p>${prose(description)}</p>
${route.request ? renderBody("Request", route.request) : ""}
${renderBody("Answer", route.answer)}
${examples.length > 0 ? `<h3>Examples</h3>${examples.join("")}` : ""}
<h3>Errors</h3><details><summary>By status</summary><dl>${
    problems.join("")
  }</dl></details>
</section>`;
}

function renderBody(title: string, body: BodyModel): string {
  const shapes = body.shapes.map(({ description, members }) =>
    (description ? `<p>${prose(description)}</p>` : "") +
    renderMembers(members)
  );
  return `<h3>${title}</h3><p>${prose(body.description)} <span class=note>${
    escapeHtml(body.type)
  }</span></p>${shapes.join("<p class=note>or</p>")}`;
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
