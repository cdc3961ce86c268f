/** What both applications look like, and the page that they close with. @module */

import { PAGE_HEADERS } from "@sig/api/http";
import { escapeInvisible, isSigError } from "@sig/core";
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { requireSubject } from "../../login/create_challenge.ts";
import { ICON } from "../../pages/assets.ts";
import script from "./app.js" with { type: "text" };
import style from "./app.css" with { type: "text" };
import type { Visitor } from "./demo_app.ts";
import type { ReadEnding } from "./ending.ts";

/** A place that every page leads to. */
export interface Neighbour {
  /** What people call it. */
  readonly name: string;
  /** Its address. */
  readonly url: string;
}

/** What the pages of an application are made with. */
export interface Look {
  /** Names it in the style. */
  readonly id: "shop" | "wiki";
  /** What people call it. */
  readonly name: string;
  /** How it learns of an end, in a sentence. */
  readonly learns: string;
  /** The tour and both applications; asked for when all have their address. */
  readonly neighbours: () => readonly Neighbour[];
}

/** A part of a page, whose values were escaped. */
export type Html = ReturnType<typeof html>;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Paths that everybody may read, also where a proxy stands in front. */
export const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  ...["/closed", "/app.css", "/app.js", "/icon.svg"],
]);

/**
 * Makes a Hono application with the public paths, and headers for all: it
 * answers to its own host alone, so that no page of the web reaches it by a name
 * that points to this machine.
 */
export function createPages(
  look: Look,
  host: string,
  readEnding: ReadEnding,
): Hono {
  const app = new Hono();
  app.use("*", async (c, next) => {
    if (new URL(c.req.url).host !== host) {
      return c.text("This is another host.", 421);
    }
    await next();
    for (const [name, value] of PAGE_HEADERS) c.header(name, value);
    c.header("content-security-policy", POLICY);
    c.header("x-content-type-options", "nosniff");
    c.header("cache-control", "no-store");
  });
  app.onError((_error, c) => {
    c.status(503);
    return showNotice(c, look, "This can’t be answered now", [
      "The login does not answer, or not as it should. This is no refusal: try again.",
    ]);
  });
  const serve = (path: string, type: string, text: string) =>
    app.get(path, (c) => c.body(text, 200, { "content-type": type }));
  serve("/app.css", "text/css; charset=utf-8", style);
  serve("/app.js", "text/javascript; charset=utf-8", script);
  serve("/icon.svg", "image/svg+xml", ICON);
  app.get("/closed", async (c) => {
    const subject = c.req.query("subject") ?? "";
    try {
      requireSubject(subject, true);
      return showClosed(c, look, await readEnding(subject));
    } catch (error) {
      if (!isSigError(error)) throw error;
      return showClosed(c, look, undefined);
    }
  });
  return app;
}

/** A page for somebody who is in; it asks `/alive` whether it may stay. */
export function showPage(
  c: Context,
  look: Look,
  visitor: Visitor,
  content: Html,
): Response | Promise<Response> {
  const [type = "", ...roles] = visitor.groups;
  const name = escapeInvisible(visitor.name);
  return c.html(frame(
    look,
    look.name,
    html`<main id="main" data-subject="${visitor.subject}">
<div class="person">
<p class="name">${name}</p>
<p class="groups"><span>${type}</span>${
      roles.map((role) => html`<span>${role.replace(/^role:/, "")}</span>`)
    }</p>
</div>
<p id="trouble" class="trouble" role="status"></p>
${content}
</main>`,
  ));
}

/** A page of few words. */
export function showNotice(
  c: Context,
  look: Look,
  title: string,
  lines: readonly (string | Html)[],
): Response | Promise<Response> {
  return c.html(frame(
    look,
    title,
    html`
      <main id="main">
        <section class="notice"><h1>${title}</h1>
      ${lines.map((line) => html`<p>${line}</p>`)}
      <p><a class="button" href="/">Try again</a></p></section>
      </main>
    `,
  ));
}

function showClosed(
  c: Context,
  look: Look,
  ending: Awaited<ReturnType<ReadEnding>>,
): Response | Promise<Response> {
  const title = ending === undefined ? html`You are signed out` : html`
    ${ending.issuer} ended your employment at <time
      datetime="${ending.at}">${ending.at.slice(11, 19)}</time> (event #${ending
        .sequence})
  `;
  const place = `the ${look.name.toLowerCase()}`;
  // Another end, such as a login that was started anew, has other reasons.
  const why = ending === undefined
    ? `Your session is over, as far as ${place} knows. The issuer’s feed tells no reason.`
    : `So ${place} closed itself. Nobody clicked: ${look.learns}`;
  const [tour] = look.neighbours();
  return c.html(frame(
    look,
    `Closed · ${look.name}`,
    html`
      <main id="main">
        <section class="notice closed" role="alert">
          <p class="mark">
            <svg viewBox="0 0 24 24" aria-hidden="true">
              <path d="M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6z" />
            </svg>
          </p>
          <h1>${title}</h1>
          <p>${why}</p>
          <p
            class="actions"><a class="button primary" href="${tour
              ?.url}">Back to the tour</a>
      <a class="button" href="/">Sign in again</a></p>
        </section>
      </main>
    `,
  ));
}

function frame(
  { id, name, neighbours }: Look,
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
        <link rel="stylesheet" href="/app.css">
        <link rel="icon" href="/icon.svg">
        <script type="module" src="/app.js"></script>
      </head>
      <body><header><div class="bar"><p class="brand"><span class="sign" aria-hidden="true">${name
        .slice(0, 1)}</span>${name}</p>
    <nav aria-label="Applications">${neighbours().map((each) =>
      html`
        <a href="${each.url}" ${each.name === name
          ? html`
            aria-current="page"
          `
          : ""}>${each.name}</a>
      `
    )}</nav></div></header>
    ${main}
    <footer><p>An application of the demo. It loads nothing from elsewhere.</p></footer>
      </body>
    </html>
  `;
}
