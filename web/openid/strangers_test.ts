/** Attacks on a provider and its users without a login. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { waitUntil } from "../../tests/kit/wait.ts";
import { readAnswer } from "../testdata/answer.ts";
import {
  assertRefused,
  Browser,
  CALLBACK,
  cookieAt,
  documentOf,
  REFUSED,
  statusOf,
  TestProvider,
} from "./testdata/test_provider.ts";

// promise: HEAD and prefetches change nothing, and a silent issuer delays no
//   sign-out.

const PAGE = "http://wiki.example/";
const GATE = { settings: { gateHosts: ["wiki.example"] } };

Deno.test("the gate refuses an address elsewhere or too long for a sign-in, and a begin that is not a digest", async () => {
  await using provider = await TestProvider.start(GATE);
  const refused = {
    "rd is required": [""],
    "rd is not a URL of a configured host": ["rd=http://evil.example/"],
    "begin must be a SHA-256 digest": [
      ...["", "!".repeat(43), "b".repeat(42), "b".repeat(65_000)]
        .map((begin) => `begin=${begin}&rd=${PAGE}`),
    ],
    // A quotation mark is three characters in an encoded address.
    "the request is too long": [
      ...['"'.repeat(1_000), "a".repeat(2_500)].map((path) =>
        `rd=${PAGE}${path}`
      ),
    ],
  };
  for (const [says, queries] of Object.entries(refused)) {
    for (const query of queries) {
      const url = `${provider.origin}/gate/login?${query}`;
      const { status, headers, text } = await new Browser().ask(url);
      assertEquals([status, headers.get("location")], [400, null]);
      assertStringIncludes(text, says);
    }
  }
});

Deno.test("HEAD requests and prefetches have no effect", async (t) => {
  await using provider = await TestProvider.start(GATE);
  const { browser, id_token } = await provider.logIn();
  const { origin } = provider;
  const urls = {
    authorize: await provider.authorizeUrl(),
    gate: `${origin}/gate/login?rd=${PAGE}`,
    "way back": `${origin}/_sig/return?code=x&rd=${PAGE}`,
    logout: `${origin}/oidc/logout?id_token_hint=${id_token}`,
  };
  for (const [what, url] of Object.entries(urls)) {
    await t.step(what, async () => {
      const head = await browser.ask(url, { method: "HEAD" });
      assertEquals([head.status, head.headers.get("allow")], [405, "GET"]);
      const headers = { "sec-purpose": "prefetch;prerender" };
      const { body } = await browser.ask(url, { headers });
      assertEquals(body.detail, "Cannot answer a prefetch");
    });
  }
  assertEquals(await browser.silentError(provider), null);
});

Deno.test("a form of any site starts a login like a link", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
  const { search } = new URL(await provider.authorizeUrl());
  for (const origin of ["https://app.example", "https://x.example", "null"]) {
    const { status, headers } = await provider.post(
      "/oidc/authorize",
      search.slice(1),
      { origin, "sec-fetch-site": "cross-site" },
    );
    const location = headers.get("location") ?? "";
    const url = `${provider.origin}/oidc/authorize${search}`;
    assertEquals([status, location], [303, url]);
    const back = await browser.signIn(provider, person, location);
    assertEquals(back.href.split("?")[0], CALLBACK);
    assert(back.searchParams.has("code"));
    browser.cookies.clear();
  }
});

Deno.test("a logout with two session cookies is an error", async () => {
  await using provider = await TestProvider.start();
  const { browser, id_token } = await provider.logIn();
  const url = `${provider.origin}/oidc/logout?id_token_hint=${id_token}`;
  const cookie = `${browser.cookie}; ${cookieAt("sig-session", provider)}=x`;
  const twice = await readAnswer(fetch(url, { headers: { cookie } }));
  assertEquals(twice.status, 400);
  assertStringIncludes(twice.text, "the browser sent two session cookies");
  assertEquals(await browser.silentError(provider), null);
  assertStringIncludes((await browser.ask(url)).text, "You are signed out");
});

Deno.test("a refresh may reduce the scope, and the next one may request all of it again", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const all = "openid profile groups";
  let { refresh_token } = await new Browser().tokens(provider, person);
  for (const scope of ["openid profile", "openid", all]) {
    const { status, body } = await provider.refresh(refresh_token, { scope });
    assertEquals([status, body.scope], [200, scope]);
    const claims = decodeJwt(body.id_token);
    const { body: info } = await provider.userinfo(body.access_token);
    for (const each of [claims, info]) {
      assertEquals("groups" in each, scope.includes("groups"));
      assertEquals("name" in each, scope.includes("profile"));
    }
    refresh_token = body.refresh_token;
  }
  const scope = { scope: "profile" };
  assertRefused(await provider.refresh(refresh_token, scope), REFUSED.scope);
  assertEquals((await provider.refresh(refresh_token)).status, 200);
});

Deno.test("while the issuer hangs, one client blocks neither other clients nor routes without an issuer", async () => {
  await using first = await TestProvider.start();
  const { person } = await first.employ();
  const gate = Promise.withResolvers<void>();
  let hanging = 0;
  let hangs = false;
  await using provider = await TestProvider.start({
    like: first,
    store: first.store,
    web: {
      issuers: [first.demo.did],
      require: ["relationship=employee"],
      allowPrivate: true,
      trustProxy: ["127.0.0.0/8"],
      maxConcurrent: 16,
      fetch: async (request) => {
        if (hangs) {
          hanging++;
          await gate.promise;
        }
        return documentOf(first.demo, request);
      },
    },
  });
  const browser = new Browser();
  const { access_token, id_token } = await browser.tokens(first, person);
  const own = await provider.authorizeUrl();
  const ask = (url: string, client: string) =>
    browser.send(url, { headers: { "x-forwarded-for": client } });
  assertEquals(await statusOf(ask(own, "192.0.2.2")), 303);

  hangs = true;
  const done: number[] = [];
  const asked = Array.from({ length: 40 }, async () => {
    done.push(await statusOf(ask(own, "192.0.2.1")));
  });
  // One client may use a quarter of the waiting requests.
  await waitUntil("the rest is refused", () => done.length === 40 - 4);
  assertEquals(new Set(done), new Set([503]));
  assert(hanging > 0);
  const { origin } = provider;
  for (const client of ["192.0.2.1", "192.0.2.2"]) {
    const open = [".well-known/openid-configuration", "oidc/jwks", "healthz"];
    for (const path of open) {
      assertEquals(await statusOf(ask(`${origin}/${path}`, client)), 200, path);
    }
    const fields = { client_id: "spa", token: "x" };
    const headers = { "x-forwarded-for": client };
    const revoked = await provider.post("/oidc/revoke", fields, headers);
    assertEquals(revoked.status, 200);
  }
  // The session answers after a few seconds.
  const { status, body } = await browser.ask(`${origin}/oidc/userinfo`, {
    headers: {
      authorization: `Bearer ${access_token}`,
      "x-forwarded-for": "192.0.2.2",
    },
  });
  assertEquals([status, body.sub], [200, person.did]);
  // A browser without a session is redirected to the page.
  assertEquals(await statusOf(fetch(own, { redirect: "manual" })), 303);
  const out = await ask(
    `${origin}/oidc/logout?id_token_hint=${id_token}`,
    "192.0.2.1",
  );
  assertStringIncludes(await out.text(), "You are signed out");
  gate.resolve();
  await Promise.all(asked);
});

Deno.test("the rate limit does not count forward-auth requests", async () => {
  await using provider = await TestProvider.start({
    ...GATE,
    web: { rateLimit: { perSecond: 1 } },
  });
  const url = `${provider.origin}/forward-auth`;
  for (let i = 0; i < 20; i++) {
    assertEquals(await statusOf(fetch(url)), 401);
  }
  const browser = new Browser();
  const statuses = [];
  for (let i = 0; i < 3; i++) {
    statuses.push((await browser.ask(await provider.authorizeUrl())).status);
  }
  assert(statuses.includes(429));
});
