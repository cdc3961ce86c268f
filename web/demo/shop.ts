/** The shop: it logs people in with OpenID Connect, using only `fetch`. @module */

import type { Context } from "hono";
import { raw } from "hono/html";
import { randomText, sha256Base64Url } from "../store/digest.ts";
import { type Clients, readClients } from "../openid/clients.ts";
import { TOKEN_LIFE_SECONDS } from "../openid/grants.ts";
import { hostCookie } from "../sessions/cookies.ts";
import {
  type AppContext,
  askLogin,
  createDemoApp,
  type DemoApp,
} from "./demo_app.ts";
import shelf from "./shop.html" with { type: "text" };

const CLIENT_ID = "demo-shop";
const callbackOf = (origin: string) => `${origin}/callback`;

/** Returns the shop's entry in the login's file of applications. */
export function shopClients(origin: string): Clients {
  const client_id = CLIENT_ID;
  const redirect_uris = [callbackOf(origin)];
  const clients = [{ client_id, client_name: "Shop", redirect_uris }];
  return readClients(JSON.stringify({ clients }));
}

/** Maximum duration of a login in seconds. */
const ATTEMPT_SECONDS = 900;

/**
 * Creates the shop. It is stateless: the browser's cookies hold the access
 * token, which the login checks at each request, and during a login the PKCE
 * verifier, which binds the code to this browser (RFC 9700 §2.1).
 *
 * @param login The login's issuer identifier.
 * @param origin The shop's own origin.
 */
export function createShop(
  login: string,
  origin: string,
  context: AppContext,
): DemoApp {
  const client_id = CLIENT_ID;
  const redirect_uri = callbackOf(origin);
  // Cookies ignore ports, so each server of this host uses different names.
  const tokenCookie = hostCookie("shop", origin);
  const verifierCookie = hostCookie("shop-login", origin);

  function logIn(c: Context): Response {
    const verifier = randomText(32);
    const query = new URLSearchParams({
      client_id,
      redirect_uri,
      response_type: "code",
      scope: "openid profile groups",
      code_challenge: sha256Base64Url(verifier),
      code_challenge_method: "S256",
    });
    c.header(...verifierCookie.set(verifier, ATTEMPT_SECONDS));
    return c.redirect(`${login}/oidc/authorize?${query}`, 303);
  }

  const app = createDemoApp({
    name: "Shop",
    url: `${origin}/`,
    how: "It uses OpenID Connect, like Grafana or Gitea.",
    async whoIs(cookie) {
      const token = tokenCookie.read(new Headers({ cookie }));
      const answer = token && await askLogin(`${login}/oidc/userinfo`, 401, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (!answer) return undefined;
      const { sub, name = sub, groups = [] } = await answer.json();
      return { subject: sub, name, groups };
    },
    logIn,
    content: () => raw(shelf),
  }, context);

  app.routes.get("/callback", async (c) => {
    const { code = "", error } = c.req.query();
    if (error === "access_denied") return c.redirect("/declined", 303);
    const answer = await askLogin(`${login}/oidc/token`, 400, {
      method: "POST",
      body: new URLSearchParams({
        client_id,
        redirect_uri,
        code,
        grant_type: "authorization_code",
        code_verifier: verifierCookie.read(c.req.raw.headers) ?? "",
      }),
    });
    if (answer !== undefined) {
      const { access_token } = await answer.json();
      c.header(...tokenCookie.set(access_token, TOKEN_LIFE_SECONDS));
    }
    // After a reload or a login in another tab, the login starts again.
    return c.redirect("/", 303);
  });
  return app;
}
