/** The page at `/docs`: the OpenAPI document for people. @module */

import type { JsonSchema } from "../requests/schema.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { escapeHtml, prose } from "./html.ts";
import { renderMembers } from "./members.ts";
import { STYLE } from "./style.ts";

/** What is read of an operation here. */
interface ReadOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly unknown[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: ReadResponse };
}

interface ReadResponse {
  readonly description: string;
  readonly content: Content;
}

type Content = {
  readonly [type: string]: {
    readonly schema: JsonSchema;
    readonly examples?: { readonly [name: string]: ReadExample };
  };
};

interface ReadExample {
  readonly summary: string;
  readonly value: unknown;
}

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
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation: operation as unknown as ReadOperation,
    }))
  );
  const links = operations.map(({ method, path, operation }) =>
    `<li><a href="#${operation.operationId}"><span class=method>${method}</span> <code>${
      escapeHtml(path)
    }</code></a> ${prose(operation.summary)}</li>`
  );
  const sections = operations.map((each) =>
    renderOperation(each, document, options)
  );
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

function renderOperation(
  { method, path, operation }: {
    readonly method: string;
    readonly path: string;
    readonly operation: ReadOperation;
  },
  document: OpenApiDocument,
  { base, needsToken }: PageOptions,
): string {
  const { operationId, requestBody, responses } = operation;
  const withToken = needsToken && operation.security === undefined;
  const asked = requestBody?.content["application/json"];
  const [type, answered] = Object.entries(responses["200"]!.content)[0]!;
  const names = Object.keys(asked?.examples ?? answered.examples ?? {});
  const url = new URL(path, base).href;
  const examples = names.map((name, i) => {
    const request = asked?.examples?.[name];
    const answer = answered.examples?.[name];
    const { summary } = (request ?? answer)!;
    return `<details${i === 0 ? " open" : ""}><summary>${
      prose(summary)
    }</summary>${pre(toCurl(url, withToken, request?.value))}${
      answer === undefined ? "" : pre(JSON.stringify(answer.value, null, 2))
    }</details>`;
  });
  const errors = Object.entries(responses).filter(([status]) =>
    status !== "200"
  ).map(([status, { description }]) =>
    `<dt>${status}</dt><dd>${prose(description)}</dd>`
  );
  return `<section aria-labelledby="${operationId}">
<h2 id="${operationId}"><span class=method>${method}</span> <code>${
    escapeHtml(path)
  }</code></h2>
<p><strong>${prose(operation.summary)}</strong></p>
<p>${prose(operation.description)}</p>
${
    asked
      ? `<h3>Request</h3>${renderMembers(asked.schema, document, "request")}`
      : ""
  }
<h3>Answer</h3><p>${prose(responses["200"]!.description)} <span class=note>${
    escapeHtml(type)
  }</span></p>${renderMembers(answered.schema, document, "answer")}
${examples.length > 0 ? `<h3>Examples</h3>${examples.join("")}` : ""}
<h3>Errors</h3><details><summary>By status</summary><dl>${
    errors.join("")
  }</dl></details>
</section>`;
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
