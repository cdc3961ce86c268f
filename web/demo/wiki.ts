/**
 * The wiki, which has no login, and the proxy in front of it: what nginx and
 * Caddy do with the configurations of `sig export`, in one process.
 *
 * @module
 */

import type { Hono } from "hono";
import { html } from "hono/html";
import { IDENTITY_HEADERS } from "../gate/forward_auth.ts";
import {
  type AppInfo,
  PUBLIC_PATHS,
  setBounded,
  showPage,
  type Visitor,
} from "./demo_pages.ts";

/** What {@linkcode createGateProxy} stands between. */
interface GateProxyOptions {
  /** The login's origin. */
  readonly login: string;
  /** The application's own origin. */
  readonly origin: string;
  /** The application. */
  readonly app: { fetch(request: Request): Response | Promise<Response> };
}

/** The proxy. */
interface GateProxy {
  /** Answers a request of a browser. */
  fetch(request: Request): Promise<Response>;
  /**
   * Whether the login would let somebody through who has come before; while it
   * does not answer, nobody is.
   */
  isOpenTo(subject: string): Promise<boolean>;
}

const TIMEOUT_MS = 10_000;

/** Makes the proxy. */
export function createGateProxy(
  { login, origin, app }: GateProxyOptions,
): GateProxy {
  /** The cookies that each person last came through with. */
  const cookies = new Map<string, string>();

  /** Who a browser's cookies are of; undefined for nobody. */
  async function ask(cookie: string): Promise<Headers | undefined> {
    const response = await fetch(`${login}/forward-auth`, {
      // Our own word for the host, not the browser's.
      headers: { cookie, "x-forwarded-host": new URL(origin).host },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (response.status === 200) return response.headers;
    if (response.status === 401) return undefined;
    throw new Error(`the login answered ${response.status}`);
  }

  return {
    async fetch(request) {
      // The wiki is only read; no Request can be made of TRACE.
      if (request.method !== "GET" && request.method !== "HEAD") {
        return new Response(null, {
          status: 405,
          headers: { allow: "GET, HEAD" },
        });
      }
      const { pathname, search } = new URL(request.url);
      const headers = new Headers(request.headers);
      for (const name of IDENTITY_HEADERS) headers.delete(name);
      const { method, url } = request;
      const passOn = () => app.fetch(new Request(url, { method, headers }));
      if (PUBLIC_PATHS.has(pathname)) return await passOn();
      const cookie = headers.get("cookie") ?? "";
      let known: Headers | undefined;
      try {
        known = await ask(cookie);
      } catch {
        return new Response("The login does not answer.", { status: 503 });
      }
      if (known === undefined) {
        const isPage = request.method === "GET" && pathname !== "/alive";
        if (!isPage) return new Response(null, { status: 401 });
        const rd = encodeURIComponent(origin + pathname + search);
        return Response.redirect(`${login}/gate/login?rd=${rd}`, 303);
      }
      for (const name of IDENTITY_HEADERS) {
        headers.set(name, known.get(name) ?? "");
      }
      setBounded(cookies, known.get("remote-user") ?? "", cookie);
      return await passOn();
    },
    async isOpenTo(subject) {
      const cookie = cookies.get(subject);
      if (cookie === undefined) return false;
      let known: Headers | undefined;
      try {
        known = await ask(cookie);
      } catch {
        return false;
      }
      if (known?.get("remote-user") === subject) return true;
      cookies.delete(subject);
      return false;
    },
  };
}

/** Adds the wiki's routes; only its proxy may reach them. */
export function addWiki(app: Hono, info: AppInfo): void {
  app.get(
    "/",
    (c) => {
      const visitor = visitorOf(c.req.raw.headers);
      return showPage(c, info, visitor, article(visitor));
    },
  );
  // The proxy lets only signed-in people through.
  app.get("/alive", (c) => c.body(null, 204));
}

function visitorOf(headers: Headers): Visitor {
  const subject = headers.get("remote-user") ?? "";
  return {
    subject,
    name: utf8Of(headers.get("remote-name") ?? subject),
    groups: (headers.get("remote-groups") ?? "").split(","),
  };
}

/** A header holds bytes, each as a character. */
function utf8Of(text: string): string {
  const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
  return new TextDecoder().decode(bytes);
}

function article({ groups }: Visitor) {
  return html`
    <article class="card">
      <h1>How we deploy</h1>
      <p
        class="lede">This wiki has no login. The proxy in front of it asks the login at each request who the visitor is, as nginx, Caddy and Traefik do.</p>
      <h2>Before</h2>
      <p>Read the change aloud to somebody. If you get tired of it, it is too large.</p>
      <h2>Who may</h2>
      <p>${groups.includes("role:deploy")
        ? "You may: your employer’s feed gives you the role deploy."
        : "Everybody with the role deploy. Your employer’s feed does not give it to you."}</p>
      <h2>After</h2>
      <p>Stay for an hour. Then go home.</p>
    </article>
  `;
}
