/**
 * The parts that both applications of the demo share, such as their frame and
 * the page that ends a visit.
 *
 * @module
 */

import { PAGE_HEADERS } from "@sig/api/internal/http";
import { escapeInvisible } from "@sig/core";
import { type Context, Hono } from "hono";
import { html, raw } from "hono/html";
import { ICON, STYLE } from "../pages/assets.ts";
import page from "./page.html" with { type: "text" };
import script from "./demo.js" with { type: "text" };
import style from "./demo.css" with { type: "text" };

/** The person who is logged in to an application. */
export interface Visitor {
  readonly subject: string;
  readonly name: string;
  /** The person's relationship type and roles: `employee`, `role:deploy`. */
  readonly groups: readonly string[];
}

/** A link that every page contains. */
interface AppLink {
  readonly name: string;
  readonly url: string;
}

/** What describes an application. */
interface AppFacts extends AppLink {
  /** A sentence about how it identifies people. */
  readonly how: string;
}

/** The properties of one application. */
interface AppOptions extends AppFacts {
  /**
   * Asks the login for the person of a browser, by its `Cookie` header.
   *
   * @throws {Error} as `fetch`, and for any unexpected status.
   */
  readonly whoIs: (cookie: string) => Promise<Visitor | undefined>;
  /** Redirects a browser to the login. */
  readonly logIn: (c: Context) => Response | Promise<Response>;
  /** The content for people who are logged in. */
  readonly content: (visitor: Visitor) => Html;
}

/** What an application knows about the rest of the demo. */
export interface AppContext {
  /**
   * The links to the tour and both applications; called when all have a URL.
   */
  readonly links: () => readonly AppLink[];
  /**
   * Returns the event that ended a person's employment, as the demo's issuer
   * signed it.
   */
  readonly endOf: (subject: string) => {
    /** The issuer's host. */
    readonly issuer: string;
    readonly sequence: number;
  } | undefined;
}

/** An application that people log in to with the key of the page. */
export interface DemoApp extends AppFacts {
  readonly routes: Hono;
  /** Returns whether it would show its pages to a person who has opened it. */
  isOpenTo(subject: string): Promise<boolean>;
}

/** A part of a page, with escaped values. */
type Html = ReturnType<typeof html>;

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** Maximum number of people whose cookies are remembered. */
const MAX_PEOPLE = 100;

/**
 * Creates an application. It answers only requests to its own host, against DNS
 * rebinding. It queries the login at each request, including those to `/alive`,
 * which an open page sends each second.
 */
export function createDemoApp(
  options: AppOptions,
  context: AppContext,
): DemoApp {
  const { whoIs, logIn, content, ...about } = options;
  const { name, url } = about;
  const { host } = new URL(url);
  const id = name.toLowerCase();
  const app = new Hono();
  /** The cookies of each person's last request. */
  const cookies = new Map<string, string>();

  async function visitorOf(c: Context): Promise<Visitor | undefined> {
    const cookie = c.req.header("cookie") ?? "";
    const visitor = await whoIs(cookie);
    if (visitor === undefined) return undefined;
    cookies.delete(visitor.subject);
    cookies.set(visitor.subject, cookie);
    const [oldest = ""] = cookies.keys();
    if (cookies.size > MAX_PEOPLE) cookies.delete(oldest);
    return visitor;
  }

  const show = (c: Context, title: string, main: Html) => {
    const links = context.links().map((link) =>
      html`<a href="${link.url}" ${
        link.name === name ? raw('aria-current="page"') : ""
      }>${link.name}</a>`
    ).join("");
    const parts = { id, name, initial: name[0], links, main };
    return c.html(fill(page, { ...parts, title: html`${title}` }));
  };
  app.use("*", async (c, next) => {
    if (new URL(c.req.url).host !== host) return c.text("unknown host", 421);
    await next();
    for (const [name, value] of PAGE_HEADERS) c.header(name, value);
    c.header("content-security-policy", POLICY);
    c.header("x-content-type-options", "nosniff");
    c.header("cache-control", "no-store");
  });
  app.onError((_error, c) => {
    c.status(503);
    const title = "The login does not answer";
    const text = "You were not refused. Try again.";
    return show(c, title, notice(title, text, [TRY_AGAIN]));
  });
  for (
    const [path, type, text] of [
      ["/style.css", "text/css; charset=utf-8", STYLE],
      ["/demo.css", "text/css; charset=utf-8", style],
      ["/demo.js", "text/javascript; charset=utf-8", script],
      ["/icon.svg", "image/svg+xml", ICON],
    ] as const
  ) app.get(path, (c) => c.body(text, 200, { "content-type": type }));
  app.get("/", async (c) => {
    const visitor = await visitorOf(c);
    return visitor === undefined
      ? await logIn(c)
      : show(c, name, visited(visitor, content(visitor)));
  });
  app.get("/alive", async (c) => c.body(null, await visitorOf(c) ? 204 : 401));
  app.get("/closed", (c) => {
    const end = context.endOf(c.req.query("subject") ?? "");
    // A session may also end for other reasons, such as its age.
    if (end === undefined) return c.redirect("/", 303);
    const title =
      `${end.issuer} ended your employment (event #${end.sequence})`;
    const text =
      `So the ${id} closed itself. Nobody clicked: the login is asked at each request.`;
    const [tour] = context.links();
    const links = [
      { name: "Back to the tour", url: tour?.url ?? "/" },
      { name: "Sign in again", url: "/" },
    ];
    return show(c, title, notice(title, text, links));
  });
  app.get("/declined", (c) => {
    const title = "You declined";
    const text = `So the ${id} knows nothing of you, and stays closed.`;
    return show(c, title, notice(title, text, [TRY_AGAIN]));
  });
  return {
    ...about,
    routes: app,
    async isOpenTo(subject) {
      const cookie = cookies.get(subject);
      if (cookie === undefined) return false;
      // While the login does not answer, nobody gets in.
      const visitor = await whoIs(cookie).catch(() => undefined);
      return visitor?.subject === subject;
    },
  };
}

const TRY_AGAIN: AppLink = { name: "Try again", url: "/" };

/** A page for a logged-in person; it polls `/alive` to notice the end. */
function visited({ subject, name, groups }: Visitor, content: Html): Html {
  const [type = "", ...roles] = groups;
  return html`<main id="main" data-subject="${subject}">
<div class="person">
<p class="name">${escapeInvisible(name)}</p>
<p class="groups"><span>${type}</span>${
    roles.map((role) => html`<span>${role.replace(/^role:/, "")}</span>`)
  }</p>
</div>
<p id="trouble" class="error" role="status"></p>
${content}
</main>`;
}

/** A short page that links onwards. */
function notice(title: string, text: string, links: readonly AppLink[]): Html {
  const [first, ...others] = links.map(({ name, url }, i) =>
    html`<a class="button ${
      i === 0 ? "primary" : ""
    }" href="${url}">${name}</a>`
  );
  return html`
    <main id="main">
      <section class="card" role="alert">
        <h1>${title}</h1>
        <p>${text}</p>
        <p class="actions">${first}${others}</p>
      </section>
    </main>
  `;
}

/** Replaces `{{ name }}` in a template by a value, which must be HTML. */
export function fill(
  template: string,
  values: { readonly [name: string]: unknown },
): string {
  return template.replace(
    /\{\{ *(\w+) *\}\}/g,
    (_, name) => String(values[name]),
  );
}

/** Timeout for the login in milliseconds. */
const TIMEOUT_MS = 10_000;

/**
 * Queries the login.
 *
 * @returns undefined if it refuses.
 * @throws {Error} for any other status than 200 and `refusal`.
 */
export async function askLogin(
  url: string,
  refusal: number,
  init: RequestInit,
): Promise<Response | undefined> {
  const response = await fetch(url, {
    ...init,
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.status === 200) return response;
  await response.body?.cancel();
  if (response.status === refusal) return undefined;
  throw new Error(`the login answered ${response.status}`);
}
