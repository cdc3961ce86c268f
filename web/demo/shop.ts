/** The shop: it logs people in by OpenID Connect. @module */

import type { Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { hostCookie, nameAtPort } from "../sessions/cookies.ts";
import {
  type OpenIdClient,
  type PendingLogin,
  randomText,
  type SignedIn,
} from "./openid_client.ts";
import {
  type AppInfo,
  setBounded,
  showNotice,
  showPage,
} from "./demo_pages.ts";

/** The shop, and who is in it. */
export interface Shop {
  /** Adds its routes to a Hono application. */
  addTo(app: Hono): void;
  /** Whether somebody is in. */
  isOpenTo(subject: string): boolean;
}

/** What {@linkcode createShop} works with. */
interface ShopOptions {
  /** Logs people in. */
  readonly client: OpenIdClient;
  /** What its pages are made with. */
  readonly info: AppInfo;
  /** Its origin. */
  readonly origin: string;
  /** Milliseconds from a person's signature to the end of the session there. */
  readonly sessionMs: number;
  /** The clock. */
  readonly now: () => Date;
}

/** Seconds that a login may take. */
const ATTEMPT_SECONDS = 900;

/** Bytes of a logout token's form at most; any page of the web may send one. */
const MAX_FORM_BYTES = 16 * 1024;

const GOODS = [
  ["Mug", "Keeps tea warm through a long review", "8.50"],
  ["Notebook", "For what no feed needs to know", "4.20"],
  ["Desk lamp", "Light, and dark, as the device says", "39.00"],
  ["Umbrella", "For the way home after a deploy", "17.90"],
] as const;

/**
 * Makes the shop. Of a session that ends by itself at the login nobody tells
 * it, nor of a revocation after that: so it lets nobody stay for longer.
 */
export function createShop(
  { client, info, origin, sessionMs, now }: ShopOptions,
): Shop {
  // Cookies know no ports: each server of this host has names of its own.
  const cookie = (name: string) => hostCookie(nameAtPort(name, origin), false);
  const [sessionCookie, loginCookie] = [cookie("shop"), cookie("shop-login")];
  const read = ({ read }: typeof sessionCookie, c: Context) =>
    read(c.req.raw.headers) ?? "";
  /** People at the provider, by the secret of their browser. */
  const pending = new Map<string, PendingLogin>();
  /** People in the shop, likewise. */
  const sessions = new Map<string, SignedIn>();
  /** Sessions that are over: a logout token may overtake its ID token. */
  const over = new Map<string, true>();
  const leftMs = ({ authTime }: SignedIn) =>
    authTime * 1000 + sessionMs - now().getTime();
  const sessionOf = (c: Context) => {
    const session = sessions.get(read(sessionCookie, c));
    return session && leftMs(session) > 0 ? session : undefined;
  };
  const guard = bodyLimit({
    maxSize: MAX_FORM_BYTES,
    onError: (c) => c.json({ error: "invalid_request" }, 413),
  });
  return {
    isOpenTo: (subject) =>
      sessions.values().some((each) =>
        each.subject === subject && leftMs(each) > 0
      ),
    addTo(app) {
      app.get("/", async (c) => {
        const session = sessionOf(c);
        if (session !== undefined) return showPage(c, info, session, shelf());
        const { location, login } = await client.begin();
        const secret = randomText();
        setBounded(pending, secret, login);
        c.header(...loginCookie.set(secret, ATTEMPT_SECONDS));
        return c.redirect(location, 303);
      });
      app.get("/callback", async (c) => {
        const secret = read(loginCookie, c);
        const login = pending.get(secret);
        pending.delete(secret);
        // Such as a page that was reloaded, or a login in another tab.
        if (login === undefined || login.state !== c.req.query("state")) {
          return c.redirect("/", 303);
        }
        const session = await client.finish(new URL(c.req.url), login);
        if (session === undefined) {
          return showNotice(c, info, "You declined", [
            "So the shop knows nothing of you, and stays closed.",
          ]);
        }
        if (over.has(session.sid)) {
          const subject = encodeURIComponent(session.subject);
          return c.redirect(`/closed?subject=${subject}`, 303);
        }
        const fresh = randomText();
        setBounded(sessions, fresh, session);
        const seconds = Math.ceil(leftMs(session) / 1000);
        c.header(...sessionCookie.set(fresh, seconds));
        return c.redirect("/", 303);
      });
      app.post("/backchannel-logout", guard, async (c) => {
        const { logout_token: token } = await c.req.parseBody();
        let ended: string;
        try {
          ended = await client.readLogoutToken(String(token));
        } catch {
          return c.json({ error: "invalid_request" }, 400);
        }
        setBounded(over, ended, true);
        for (const [secret, { sid }] of sessions) {
          if (sid === ended) sessions.delete(secret);
        }
        return c.body(null, 200);
      });
      app.get(
        "/alive",
        (c) => c.body(null, sessionOf(c) === undefined ? 401 : 204),
      );
    },
  };
}

function shelf() {
  return html`
    <h1>Staff prices</h1>
    <p
      class="lede">This shop serves employees. It asked the login who you are, by OpenID Connect, and knows no password of yours.</p>
    <ul class="goods">${GOODS.map(([name, what, price]) =>
      html`
        <li class="card">
          <h2>${name}</h2>
          <p>${what}</p>
          <p class="price">€ ${price}</p>
        </li>
      `
    )}</ul>
  `;
}
