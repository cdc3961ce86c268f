/** What both applications share: their frame, and the page that they close with. @module */

import { PAGE_HEADERS } from "@sig/api/http";
import { escapeInvisible } from "@sig/core";
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { ICON, STYLE } from "../pages/assets.ts";
import script from "./demo.js" with { type: "text" };
import style from "./demo.css" with { type: "text" };

/** Who is logged in to an application. */
export interface Visitor {
  /** The person's DID. */
  readonly subject: string;
  /** What people call them. */
  readonly name: string;
  /** What they are: `employee`, `role:deploy`. */
  readonly groups: readonly string[];
}

/** The end of somebody's employment, as the demo's issuer signed it. */
export type EndOf = (subject: string) => {
  /** Who ended it: a host. */
  readonly issuer: string;
  /** The event that says so. */
  readonly sequence: number;
} | undefined;

const MAX_ENTRIES = 100;

/** Sets an entry, and removes the oldest ones beyond 100. */
export function setBounded<T>(
  entries: Map<string, T>,
  id: string,
  entry: T,
): void {
  entries.delete(id);
  entries.set(id, entry);
  for (const oldest of entries.keys()) {
    if (entries.size <= MAX_ENTRIES) break;
    entries.delete(oldest);
  }
}

/** A link that every page has. */
interface AppLink {
  /** What people call it. */
  readonly name: string;
  /** Its address. */
  readonly url: string;
}

/** What the pages of an application say about it. */
export interface AppInfo {
  /** Names it in the style. */
  readonly id: "shop" | "wiki";
  /** What people call it. */
  readonly name: string;
  /** How it learns of an end, in a sentence. */
  readonly learns: string;
  /** The tour and both applications; asked for when all have their address. */
  readonly links: () => readonly AppLink[];
}

/** A part of a page, whose values were escaped. */
type Html = ReturnType<typeof html>;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Paths that everybody may read, also where a proxy stands in front. */
export const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  ...["/closed", "/style.css", "/demo.css", "/demo.js", "/icon.svg"],
]);

/**
 * Makes a Hono application with the public paths, and headers for all: it
 * answers to its own host alone, so that no page of the web reaches it by a name
 * that points to this machine.
 */
export function createPages(
  info: AppInfo,
  host: string,
  endOf: EndOf,
): Hono {
  const app = new Hono();
  app.use("*", async (c, next) => {
    if (new URL(c.req.url).host !== host) {
      return c.text("unknown host", 421);
    }
    await next();
    for (const [name, value] of PAGE_HEADERS) c.header(name, value);
    c.header("content-security-policy", POLICY);
    c.header("x-content-type-options", "nosniff");
    c.header("cache-control", "no-store");
  });
  app.onError((_error, c) => {
    c.status(503);
    return showNotice(c, info, "The login does not answer", [
      "You were not refused. Try again.",
    ]);
  });
  const serve = (path: string, type: string, text: string) =>
    app.get(path, (c) => c.body(text, 200, { "content-type": type }));
  serve("/style.css", "text/css; charset=utf-8", STYLE);
  serve("/demo.css", "text/css; charset=utf-8", style);
  serve("/demo.js", "text/javascript; charset=utf-8", script);
  serve("/icon.svg", "image/svg+xml", ICON);
  app.get(
    "/closed",
    (c) => showClosed(c, info, endOf(c.req.query("subject") ?? "")),
  );
  return app;
}

/** A page for somebody who is in; it asks `/alive` whether it may stay. */
export function showPage(
  c: Context,
  info: AppInfo,
  visitor: Visitor,
  content: Html,
): Response | Promise<Response> {
  const [type = "", ...roles] = visitor.groups;
  const name = escapeInvisible(visitor.name);
  return c.html(frame(
    info,
    info.name,
    html`<main id="main" data-subject="${visitor.subject}">
<div class="person">
<p class="name">${name}</p>
<p class="groups"><span>${type}</span>${
      roles.map((role) => html`<span>${role.replace(/^role:/, "")}</span>`)
    }</p>
</div>
<p id="trouble" class="error" role="status"></p>
${content}
</main>`,
  ));
}

/** A page of few words, which leads on. */
export function showNotice(
  c: Context,
  info: AppInfo,
  title: string,
  lines: readonly (string | Html)[],
  links: readonly AppLink[] = [{ name: "Try again", url: "/" }],
): Response | Promise<Response> {
  return c.html(frame(
    info,
    title,
    html`
      <main id="main">
        <section class="card" role="alert"><h1>${title}</h1>
      ${lines.map((line) => html`<p>${line}</p>`)}
      <p class="actions">${links.map(({ name, url }, i) =>
        html`<a class="button ${
          i === 0 ? "primary" : ""
        }" href="${url}">${name}</a>`
      )}</p></section>
      </main>
    `,
  ));
}

const LOCK =
  html`<span class="lock"><svg viewBox="0 0 24 24" aria-hidden="true">
<path d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z" /></svg></span>`;

function showClosed(
  c: Context,
  info: AppInfo,
  end: ReturnType<EndOf>,
): Response | Promise<Response> {
  const place = `the ${info.name.toLowerCase()}`;
  const [tour] = info.links();
  const links = [
    ...(tour === undefined ? [] : [{ ...tour, name: "Back to the tour" }]),
    { name: "Sign in again", url: "/" },
  ];
  // A session may end for other reasons, such as a new login.
  return end === undefined
    ? showNotice(c, info, "You are signed out", [
      LOCK,
      `Your session is over, as far as ${place} knows. The issuer’s feed gives no reason.`,
    ], links)
    : showNotice(
      c,
      info,
      `${end.issuer} ended your employment (event #${end.sequence})`,
      [LOCK, `So ${place} closed itself. Nobody clicked: ${info.learns}`],
      links,
    );
}

function frame(
  { id, name, links }: AppInfo,
  title: string,
  main: Html,
): Html {
  return html`
    <!doctype html>
    <html lang="en" data-app="${id}">
      <head>
        <meta charset="utf-8">
        <title>${title}</title>
        <meta name="viewport" content="width=device-width">
        <link rel="stylesheet" href="/style.css">
        <link rel="stylesheet" href="/demo.css">
        <link rel="icon" href="/icon.svg">
        <script type="module" src="/demo.js"></script>
      </head>
      <body><header class="site-header"><div class="bar"><p class="brand"><span class="sign" aria-hidden="true">${name
        .slice(0, 1)}</span>${name}</p>
    <nav aria-label="Applications">${links().map((each) =>
      html`
        <a href="${each.url}" ${each.name === name
          ? html`
            aria-current="page"
          `
          : ""}>${each.name}</a>
      `
    )}</nav></div></header>
    ${main}
    <footer class="site-footer"><p>An application of the demo. It loads nothing from other sites.</p></footer>
      </body>
    </html>
  `;
}
