import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import {
  CALLBACK,
  SECRET,
  TestProvider,
} from "./openid/testdata/test_provider.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Person } from "./testdata/independent_client.ts";
import { ORIGIN, Site } from "./testdata/site.ts";
import { waitUntil } from "../tests/kit/wait.ts";

Deno.test("the health check names service, version and uptime", async () => {
  const site = new Site();
  site.nowMs += 2_500;
  const { status, body } = await site.ask("/healthz");
  assertEquals(status, 200);
  assertEquals(body, {
    status: "ok",
    service: "sig-web",
    version: "0.1.0",
    spec_version: "sig/0.1",
    uptime_seconds: 2,
  });
});

Deno.test("is ready while its store and an issuer respond, and does not name a failing issuer", async () => {
  assertEquals((await new Site().ask("/readyz")).body, { status: "ready" });
  // Nothing listens on port 1 of the loopback address.
  const issuers = ["did:web:127.0.0.1%3A1"];
  const site = new Site({ issuers, allowPrivate: true });
  const { status, body } = await site.ask("/readyz");
  assertEquals([status, body], [503, {
    status: "not_ready",
    checks: { store: "ok", issuers: "unreachable" },
  }]);
});

Deno.test("an independently written client logs in, once per challenge", async () => {
  const site = new Site();
  const alice = new Person();
  const challenge = await site.challenge({ scopes: ["profile", "email"] });
  const attestation = alice.attest(challenge, site.nowMs);
  const { status, body } = await site.verify(attestation, {
    audience: ORIGIN,
    nonce: challenge.nonce,
    challenge_id: challenge.challenge_id,
    scopes: ["email"],
  });
  assertEquals(status, 200);
  assertEquals(body, {
    verified: true,
    subject: alice.did,
    audience: ORIGIN,
    scopes: ["email", "profile"],
    challenge_id: challenge.challenge_id,
    kid: alice.kid,
    verified_at: "2026-01-31T09:00:00Z",
    relationship: null,
  });
  const again = await site.verify(attestation);
  assertEquals([again.status, again.body.code], [409, "challenge_used"]);
});

Deno.test("a misused attestation gets problem details and does not consume the challenge", async () => {
  const site = new Site();
  const alice = new Person();
  const challenge = await site.challenge({ scopes: ["email"] });
  // The tests of verifyLogin cover every code; these three have different
  // statuses.
  const cases = [
    [403, "nonce_mismatch", { nonce: "A".repeat(43) }, {}],
    [404, "challenge_not_found", { jti: "A".repeat(32) }, {}],
    [422, "typ_mismatch", {}, { typ: "sig-event+jws" }],
  ] as const;
  for (const [status, code, claims, header] of cases) {
    const attestation = alice.attest(challenge, site.nowMs, claims, header);
    const refused = await site.verify(attestation);
    assertEquals([refused.status, refused.body.code], [status, code]);
    const type = refused.headers.get("content-type");
    assertEquals(type, "application/problem+json");
    assertEquals(refused.body.type, `urn:sig:problem:${code}`);
  }
  const honest = await site.verify(alice.attest(challenge, site.nowMs));
  assertEquals(honest.status, 200);
});

Deno.test("rejects an audience that is not configured", async () => {
  const site = new Site();
  const { status, body } = await site.ask("/v1/auth/challenge/create", {
    audience: "https://evil.example",
  });
  assertEquals([status, body.code], [403, "audience_not_allowed"]);
});

Deno.test("an attestation for one of two sites that share a store is rejected at the other", async () => {
  const store = createMemoryStore();
  const shop = new Site({ store });
  const other = new Site({ store, audiences: ["https://other.example"] });
  const alice = new Person();
  const challenge = await shop.challenge();
  const attestation = alice.attest(challenge, shop.nowMs);
  const { status, body } = await other.verify(attestation);
  assertEquals([status, body.code], [403, "audience_mismatch"]);
  assertEquals((await shop.verify(attestation)).status, 200);
});

Deno.test("resolves a did:web of this machine only with allowPrivate", async () => {
  const did = "did:web:127.0.0.1%3A8080";
  const fetch = () => Promise.resolve(new Response(null, { status: 404 }));
  for (
    const [allowPrivate, status, code] of [
      [false, 403, "address_not_allowed"],
      [true, 502, "key_unresolvable"],
    ] as const
  ) {
    const site = new Site({ allowPrivate, fetch });
    const claims = { iss: did, sub: did };
    const attestation = new Person().attest(
      ...[await site.challenge(), site.nowMs, claims] as const,
      { kid: `${did}#login` },
    );
    const answer = await site.verify(attestation);
    assertEquals([answer.status, answer.body.code], [status, code]);
  }
});

Deno.test("rejects requests from pages of other sites", async () => {
  const site = new Site();
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    const simple = await site.app.fetch(
      new Request(`${ORIGIN}/v1/auth/challenge/create`, {
        method: "POST",
        headers: { "content-type": type },
        body: "{}",
      }),
    );
    assertEquals((await simple.json()).code, "unsupported_media_type");
  }
  const crossSite = await site.app.fetch(
    new Request(`${ORIGIN}/v1/auth/challenge/create`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "cross-site",
      },
      body: "{}",
    }),
  );
  assertEquals(crossSite.status, 403);
  assertEquals((await crossSite.json()).code, "origin_not_allowed");
});

Deno.test("a store that hangs delays logins but not the page", async () => {
  const silence = Promise.withResolvers<void>();
  const memory = createMemoryStore();
  let waiting = 0;
  const store: RecordStore = {
    ...memory,
    async put(...record) {
      waiting++;
      await silence.promise;
      return await memory.put(...record);
    },
  };
  const site = new Site({ store, maxConcurrent: 8 });
  const hanging = [];
  for (const count of [1, 2]) {
    hanging.push(site.challenge());
    await waitUntil("it waits for the store", () => waiting === count);
  }
  const { status, body } = await site.ask("/v1/auth/challenge/create", {});
  assertEquals([status, body.code, body.detail], [
    503,
    "overloaded",
    "Cannot answer: too many requests of this client wait for the same answer of others",
  ]);
  assertEquals((await site.ask("/")).status, 200);
  assertEquals((await site.ask("/ui/style.css")).status, 200);
  silence.resolve();
  await Promise.all(hanging);
});

Deno.test("a stranger can't take the places of a server whose store hangs, by any route", async () => {
  const memory = createMemoryStore();
  const silence = Promise.withResolvers<void>();
  let hangs = false;
  let waiting = 0;
  const hang =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A) => {
      if (hangs) {
        waiting++;
        await silence.promise;
      }
      return await work(...given);
    };
  await using provider = await TestProvider.start({
    store: {
      ...memory,
      get: hang(memory.get),
      put: hang(memory.put),
      take: hang(memory.take),
    },
    settings: { gateHosts: ["wiki.example"] },
    web: { maxConcurrent: 8 },
  });
  const { browser, person } = await provider.logIn();
  const id = await browser.begin(
    await provider.authorizeUrl({ prompt: "login" }),
  );
  const { attestation } = await browser.sign(
    provider,
    person,
    await provider.authorizeUrl({ prompt: "login" }),
  );
  const authorize = new URL(await provider.authorizeUrl());
  const form = (fields: Record<string, string>) => new URLSearchParams(fields);
  const json = (body: object) => JSON.stringify(body);
  const token = `${"a".repeat(22)}.${"a".repeat(43)}`;
  const app = { client_id: "app", client_secret: SECRET };
  const code = { grant_type: "authorization_code", code: token };
  const requests: readonly (readonly [string, (string | URLSearchParams)?])[] =
    [
      ["/oidc/consents"],
      ["/oidc/consents/revoke", json({ client_id: "app" })],
      [`/oidc/interaction/${id}`],
      [`/oidc/interaction/${id}`, json({ attestation })],
      ["/oidc/logout"],
      ["/oidc/logout", form({ csrf: "x" })],
      ["/oidc/revoke", form({ ...app, token })],
      ["/oidc/token", form({ ...app, ...code, redirect_uri: CALLBACK })],
      ["/oidc/userinfo"],
      ["/oidc/userinfo", ""],
      [authorize.pathname + authorize.search],
      ["/forward-auth"],
      [`/_sig/return?code=${token}&rd=http://wiki.example/`],
      ["/gate/login?rd=http://wiki.example/"],
      ["/v1/auth/challenge/create", json({})],
    ];
  hangs = true;
  const pending: Promise<Response>[] = [];
  const routes = new Set<string>();
  for (const [path, body] of requests) {
    const before = waiting;
    for (let i = 0; i < 20; i++) {
      const request = new Request(provider.origin + path, {
        method: body === undefined ? "GET" : "POST",
        ...(body === undefined ? {} : { body }),
        headers: {
          ...(typeof body === "string"
            ? { "content-type": "application/json" }
            : {}),
          "cookie": browser.cookie,
          "authorization": path === "/oidc/userinfo" ? `Bearer ${token}` : "",
          "x-forwarded-host": path.startsWith("/_sig/") ? "wiki.example" : "",
        },
      });
      if (path !== "/oidc/userinfo") request.headers.delete("authorization");
      if (!path.startsWith("/_sig/")) {
        request.headers.delete("x-forwarded-host");
      }
      pending.push(
        provider.web.fetch(request, {
          // A client may also wait in few routes at a time.
          remoteAddr: { hostname: `192.0.2.${routes.size}` },
        }),
      );
    }
    const [route = ""] = path.split("?", 1);
    if (!routes.has(route)) {
      await waitUntil(`${path} waits for the store`, () => waiting > before);
    }
    // Both methods of a path share its limits.
    routes.add(route);
    // The page needs a slot, as does another client's request.
    const page = await provider.web.fetch(new Request(`${provider.origin}/`), {
      remoteAddr: { hostname: "192.0.2.200" },
    });
    await page.body?.cancel();
    assertEquals(page.status, 200, path);
  }
  silence.resolve();
  for (const response of await Promise.all(pending)) {
    await response.body?.cancel();
  }
});

Deno.test("errors are pages for clients that accept HTML, and problem details for all others", async () => {
  const site = new Site();
  const get = async (path: string, accept: string, method = "GET") => {
    const headers = { accept };
    const request = new Request(`${ORIGIN}${path}`, { method, headers });
    const response = await site.app.fetch(request);
    const { status } = response;
    const type = response.headers.get("content-type") ?? "";
    return {
      status,
      type,
      headers: response.headers,
      text: await response.text(),
    };
  };
  const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
  const page = await get("/nosuch<page>", browser);
  assertEquals([page.status, page.type], [404, "text/html; charset=utf-8"]);
  assertStringIncludes(page.text, "<h1>There is no such page</h1>");
  // It leads on, and says that nothing was refused.
  assertStringIncludes(page.text, '<a class="button primary" href="/">');
  assertStringIncludes(page.text, "You were not refused");
  assertStringIncludes(page.text, page.headers.get("x-request-id")!);
  const policy = page.headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'; style-src 'self'");
  const wrong = await get("/", browser, "POST");
  assertEquals([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD"]);
  assertStringIncludes(wrong.text, "the method must be GET or HEAD");
  for (const accept of ["*/*", "application/json"]) {
    const { status, type, text } = await get("/nosuchpage", accept);
    assertEquals([status, type], [404, "application/problem+json"]);
    assertEquals(JSON.parse(text).code, "not_found");
  }
});
