import { createMemoryStore } from "@sig/consumer/store";
import {
  CALLBACK,
  SECRET,
  TestProvider,
} from "./openid/testdata/test_provider.ts";
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Answer, readAnswer } from "./testdata/answer.ts";
import { Person } from "./testdata/independent_client.ts";
import { ORIGIN, Site } from "./testdata/site.ts";
import { waitUntil } from "../tests/kit/wait.ts";

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

/** A memory store whose calls wait while it hangs. */
function createHanging() {
  const memory = createMemoryStore();
  const silence = Promise.withResolvers<void>();
  const state = { hangs: false, waiting: 0, end: silence.resolve };
  const hang =
    <A extends unknown[], T>(work: (...given: A) => Promise<T>) =>
    async (...given: A) => {
      if (state.hangs) {
        state.waiting++;
        await silence.promise;
      }
      return await work(...given);
    };
  const { get, put, take } = memory;
  const calls = { get: hang(get), put: hang(put), take: hang(take) };
  return Object.assign(state, { store: { ...memory, ...calls } });
}

Deno.test("a stranger can't take the places of a server whose store hangs, by any route", async () => {
  const hanging = createHanging();
  await using provider = await TestProvider.start({
    store: hanging.store,
    settings: { gateHosts: ["wiki.example"] },
    web: { maxConcurrent: 8 },
  });
  const { origin } = provider;
  const { browser, person } = await provider.logIn();
  const again = await provider.authorizeUrl({ prompt: "login" });
  const id = await browser.begin(again);
  const { attestation } = await browser.sign(provider, person, again);
  const authorize = new URL(await provider.authorizeUrl());
  const token = `${"a".repeat(22)}.${"a".repeat(43)}`;
  const form = (fields: Record<string, string>) =>
    new URLSearchParams({
      ...{ client_id: "app", client_secret: SECRET, ...fields },
    });
  const code = { grant_type: "authorization_code", code: token };
  const bearer = { authorization: `Bearer ${token}` };
  const wiki = { "x-forwarded-host": "wiki.example" };
  const requests: readonly (readonly [
    path: string,
    body?: object | "" | undefined,
    headers?: Record<string, string>,
  ])[] = [
    ["/oidc/consents"],
    ["/oidc/consents/revoke", { client_id: "app" }],
    [`/oidc/interaction/${id}`],
    [`/oidc/interaction/${id}`, { attestation }],
    ["/oidc/logout"],
    ["/oidc/logout", form({ csrf: "x" })],
    ["/oidc/revoke", form({ token })],
    ["/oidc/token", form({ ...code, redirect_uri: CALLBACK })],
    ["/oidc/userinfo", undefined, bearer],
    ["/oidc/userinfo", "", bearer],
    [authorize.pathname + authorize.search],
    ["/forward-auth"],
    [`/_sig/return?code=${token}&rd=http://wiki.example/`, undefined, wiki],
    ["/gate/login?rd=http://wiki.example/"],
    ["/v1/auth/challenge/create", {}],
  ];
  hanging.hangs = true;
  const pending: Promise<Answer>[] = [];
  const routes = new Set<string>();
  const send = (path: string, client: number, init?: RequestInit) =>
    readAnswer(provider.web.fetch(new Request(origin + path, init), {
      remoteAddr: { hostname: `192.0.2.${client}` },
    }));
  for (const [path, sent, more] of requests) {
    const before = hanging.waiting;
    const isForm = sent === "" || sent instanceof URLSearchParams;
    const init: RequestInit = {
      method: sent === undefined ? "GET" : "POST",
      headers: {
        ...(isForm ? {} : { "content-type": "application/json" }),
        ...{ cookie: browser.cookie, ...more },
      },
      ...(sent !== undefined && {
        body: isForm ? sent as BodyInit : JSON.stringify(sent),
      }),
    };
    // A client may also wait in few routes at a time.
    for (let i = 0; i < 20; i++) pending.push(send(path, routes.size, init));
    const [route = ""] = path.split("?", 1);
    if (!routes.has(route)) {
      const waits = () => hanging.waiting > before;
      await waitUntil(`${path} waits for the store`, waits);
    }
    // Both methods of a path share its limits.
    routes.add(route);
    // The page needs a slot, as does another client's request.
    assertEquals((await send("/", 200)).status, 200, path);
  }
  hanging.end();
  await Promise.all(pending);
});

Deno.test("errors are pages for clients that accept HTML, and problem details for all others", async () => {
  const site = new Site();
  const get = (path: string, accept: string, method = "GET") => {
    const headers = { accept };
    const request = new Request(`${ORIGIN}${path}`, { method, headers });
    return readAnswer(site.app.fetch(request));
  };
  const typeOf = ({ headers }: Answer) => headers.get("content-type");
  const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
  const page = await get("/nosuch<page>", browser);
  const { status, headers, text } = page;
  assertEquals([status, typeOf(page)], [404, "text/html; charset=utf-8"]);
  const policy = headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "default-src 'none'; style-src 'self'");
  const parts = [
    "<h1>There is no such page</h1>",
    // It leads on, and says that nothing was refused.
    '<a class="button primary" href="/">',
    "You were not refused",
    headers.get("x-request-id")!,
  ];
  for (const part of parts) assertStringIncludes(text, part);
  const wrong = await get("/", browser, "POST");
  assertEquals([wrong.status, wrong.headers.get("allow")], [405, "GET, HEAD"]);
  assertStringIncludes(wrong.text, "the method must be GET or HEAD");
  for (const accept of ["*/*", "application/json"]) {
    const answer = await get("/nosuchpage", accept);
    assertEquals(typeOf(answer), "application/problem+json");
    assertEquals([answer.status, answer.body.code], [404, "not_found"]);
  }
});
