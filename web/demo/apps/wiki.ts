/** The wiki: it knows nothing of logins, and reads what its proxy says. @module */

import type { Hono } from "hono";
import { html } from "hono/html";
import type { Visitor } from "./demo_app.ts";
import { type Look, showPage } from "./pages.ts";

/** Adds the wiki's routes; only its proxy may reach them. */
export function addWiki(app: Hono, look: Look): void {
  app.get(
    "/",
    (c) => {
      const visitor = visitorOf(c.req.raw.headers);
      return showPage(c, look, visitor, article(visitor));
    },
  );
  // The proxy lets through only who is in.
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
    <article>
      <h1>How we deploy</h1>
      <p
        class="lede">This wiki has no login. The proxy in front of it asks, at each request, who is there: as nginx, Caddy and Traefik do.</p>
      <h2>Before</h2>
      <p>Read the change aloud to somebody. If you get tired of it, it is too large.</p>
      <h2>Who may</h2>
      <p>${groups.includes("role:deploy")
        ? "You may: your employer’s feed gives you the role deploy."
        : "Whoever has the role deploy. Your employer’s feed does not give it to you."}</p>
      <h2>After</h2>
      <p>Stay for an hour. Then go home.</p>
    </article>
  `;
}
