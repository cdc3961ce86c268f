import {
  getAuth,
  initOidcAuthMiddleware,
  oidcAuthMiddleware,
  revokeSession,
} from "@hono/oidc-auth";
import { Hono } from "hono";
import { assertEquals } from "@std/assert";
import {
  Browser,
  CALLBACK,
  SECRET,
  TestProvider,
} from "./testdata/test_provider.ts";

/** A site behind `@hono/oidc-auth`, and the cookies that a browser keeps of it. */
function startSite(issuer: string) {
  const app = new Hono();
  app.use(initOidcAuthMiddleware({
    OIDC_AUTH_SECRET: "test-secret-of-the-site-0123456789",
    // It refreshes at each request: so it hears of a revocation.
    OIDC_AUTH_REFRESH_INTERVAL: "-1",
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: "app",
    OIDC_CLIENT_SECRET: SECRET,
    OIDC_REDIRECT_URI: CALLBACK,
    OIDC_SCOPES: "openid profile groups offline_access",
  }));
  app.get("/logout", async (c) => {
    await revokeSession(c);
    return c.text("bye");
  });
  app.use(oidcAuthMiddleware());
  app.get("*", async (c) => c.json((await getAuth(c))?.sub ?? null));
  const cookies = new Map<string, string>();
  return {
    cookies,
    async visit(url: string) {
      const cookie = Array.from(cookies, (pair) => pair.join("=")).join("; ");
      const response = await app.request(url, { headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/max-age=0\b/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      const location = response.headers.get("location") ?? "";
      return { status: response.status, location, text: await response.text() };
    },
  };
}

const PAGE = "https://app.example/page";

Deno.test({
  name:
    "@hono/oidc-auth logs in with code and PKCE, refreshes, and loses who is revoked or logs out",
  // It leaves the bodies of some answers unread.
  sanitizeResources: false,
  async fn() {
    await using provider = await TestProvider.start();
    const { person, relationship } = await provider.employ();
    const browser = new Browser();
    const site = startSite(provider.origin);
    const first = await site.visit(PAGE);
    assertEquals(first.status, 302, first.text);
    const back = await browser.signIn(provider, person, first.location);
    assertEquals(`${back.origin}${back.pathname}`, CALLBACK);
    const done = await site.visit(back.href);
    assertEquals([done.status, done.location], [302, PAGE], done.text);
    // Each of these rotates the refresh token.
    for (let i = 0; i < 3; i++) {
      const { status, text } = await site.visit(PAGE);
      assertEquals([status, text], [200, JSON.stringify(person.did)]);
    }
    // It revokes its refresh token; the session goes on, and so a new login is silent.
    assertEquals((await site.visit("https://app.example/logout")).text, "bye");
    const again = await site.visit(PAGE);
    const silent = await browser.follow(again.location);
    assertEquals((await site.visit(silent.href)).location, PAGE);
    assertEquals((await site.visit(PAGE)).status, 200);
    await provider.demo.revoke(relationship);
    const revoked = await site.visit(PAGE);
    assertEquals(revoked.status, 302);
    const url = new URL(revoked.location);
    url.searchParams.set("prompt", "none");
    const refused = await browser.follow(url.href);
    assertEquals(refused.searchParams.get("error"), "login_required");
  },
});
