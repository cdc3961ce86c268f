import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { createApp } from "../app.ts";
import { readClients } from "./clients.ts";
import {
  Browser,
  CALLBACK,
  cookieAt,
  testKeys,
  TestProvider,
  usualClients,
} from "./testdata/test_provider.ts";

async function problemOf(
  response: Response,
): Promise<readonly [number, string, string]> {
  const { code, detail } = await response.json();
  return [response.status, code, detail];
}

const UNKNOWN = [
  404,
  "not_found",
  "Cannot sign in: this request is not known in this browser (any more)",
] as const;

Deno.test("only the browser that started a login can read, finish or decline it", async () => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  const attacker = new Browser();
  const id = await attacker.begin(await provider.authorizeUrl());
  const { challenge } = await attacker.interaction(origin, id);
  const attestation = person.attest(challenge, Date.now());
  const victim = new Browser();
  await victim.begin(await provider.authorizeUrl());
  for (const browser of [new Browser(), victim]) {
    const read = await browser.send(`${origin}/oidc/interaction/${id}`);
    assertEquals(await problemOf(read), UNKNOWN);
    for (const body of [{ attestation }, { declined: true }]) {
      const answer = await browser.answer(origin, id, body);
      assertEquals(await problemOf(answer), UNKNOWN);
      assertEquals(answer.headers.get("set-cookie"), null);
    }
  }
  // The login is unchanged.
  const done = await attacker.answer(origin, id, { attestation });
  assertEquals(done.status, 200);
  await done.body?.cancel();
});

Deno.test("pages of other sites, or of other hosts of the domain, can't finish a login", async (t) => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  const browser = new Browser();
  const id = await browser.begin(await provider.authorizeUrl());
  const { challenge } = await browser.interaction(origin, id);
  const attestation = person.attest(challenge, Date.now());
  const attacks: readonly Record<string, string>[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "none" },
    { origin: "https://evil.example" },
    { origin: "null" },
    // Pages of applications may use the token endpoint but not this one.
    { origin: "https://app.example", "sec-fetch-site": "cross-site" },
  ];
  for (const headers of attacks) {
    await t.step(JSON.stringify(headers), async () => {
      const answer = await browser.answer(origin, id, { attestation }, headers);
      const [status, code] = await problemOf(answer);
      assertEquals([status, code], [403, "origin_not_allowed"]);
    });
  }
  await t.step("rejects a form", async () => {
    const answer = await browser.answer(origin, id, { attestation }, {
      "content-type": "text/plain",
    });
    assertEquals((await problemOf(answer))[1], "unsupported_media_type");
  });
  await t.step("accepts the provider's own page", async () => {
    const answer = await browser.answer(origin, id, { attestation }, {
      origin,
      "sec-fetch-site": "same-origin",
    });
    assertEquals(answer.status, 200);
    await answer.body?.cancel();
  });
});

Deno.test("an interaction accepts one answer to its own challenge, by the requested person", async (t) => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  const { person: bob } = await provider.employ();
  const browser = new Browser();
  const begin = async (changes: Record<string, string> = {}) => {
    const id = await browser.begin(
      await provider.authorizeUrl({ prompt: "login", ...changes }),
    );
    const { challenge } = await browser.interaction(origin, id);
    return { id, challenge };
  };
  await t.step("rejects an answer to another interaction", async () => {
    const [first, second] = [await begin(), await begin()];
    const attestation = person.attest(first.challenge, Date.now());
    const answer = await browser.answer(origin, second.id, { attestation });
    assertEquals((await problemOf(answer))[1], "invalid_attestation");
  });
  await t.step(
    "rejects an answer to a challenge of the open endpoint",
    async () => {
      const { id } = await begin();
      const created = await fetch(`${origin}/v1/auth/challenge/create`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"scopes":["openid"]}',
      });
      const attestation = person.attest(await created.json(), Date.now());
      const answer = await browser.answer(origin, id, { attestation });
      assertEquals((await problemOf(answer))[1], "challenge_not_found");
    },
  );
  await t.step(
    "the open endpoint rejects an answer to an interaction",
    async () => {
      const { challenge } = await begin();
      const verified = await fetch(`${origin}/v1/auth/attestation/verify`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({
          attestation: person.attest(challenge, Date.now()),
        }),
      });
      assertEquals((await problemOf(verified))[1], "challenge_not_found");
    },
  );
  await t.step("rejects a person other than the hinted one", async () => {
    const { id, challenge } = await begin({ login_hint: bob.did });
    const attestation = person.attest(challenge, Date.now());
    const answer = await browser.answer(origin, id, { attestation });
    assertEquals((await problemOf(answer))[1], "subject_mismatch");
  });
  await t.step("rejects an answer without openid", async () => {
    const { id, challenge } = await begin();
    const attestation = person.attest(challenge, Date.now(), {
      scope: "profile",
    });
    const answer = await browser.answer(origin, id, { attestation });
    assertEquals((await problemOf(answer))[1], "scope_not_granted");
  });
  await t.step("accepts only one of several identical answers", async () => {
    const { id, challenge } = await begin();
    const attestation = person.attest(challenge, Date.now());
    const answers = await Promise.all(
      [0, 1, 2, 3].map(() => browser.answer(origin, id, { attestation })),
    );
    const statuses = answers.map(({ status }) => status);
    for (const { body } of answers) await body?.cancel();
    assertEquals(statuses.filter((status) => status === 200).length, 1);
    assertEquals(
      await problemOf(await browser.answer(origin, id, { attestation })),
      [
        409,
        "challenge_used",
        "Cannot accept attestation: its challenge has been used",
      ],
    );
  });
  await t.step(
    "rejects a body that is neither an answer nor a decline",
    async () => {
      const { id } = await begin();
      for (const body of [{}, { declined: false }, { declined: true, x: 1 }]) {
        const answer = await browser.answer(origin, id, body);
        const [status, code] = await problemOf(answer);
        assertEquals(status, 400);
        assert(["invalid_request", "missing_field"].includes(code), code);
      }
    },
  );
  await t.step(
    "a decline redirects to the application, and the same link can still be used",
    async () => {
      const { id } = await begin();
      const answer = await browser.answer(origin, id, { declined: true });
      const { redirect_to } = await answer.json();
      const { searchParams: parameters, origin: to } = new URL(redirect_to);
      assertEquals(to, new URL(CALLBACK).origin);
      assertEquals(
        ["error", "state", "iss"].map((name) => parameters.get(name)),
        ["access_denied", "s1", origin],
      );
      const { challenge } = await browser.interaction(origin, id);
      const attestation = person.attest(challenge, Date.now());
      const again = await browser.answer(origin, id, { attestation });
      assertEquals(again.status, 200);
      await again.body?.cancel();
    },
  );
});

Deno.test("a denied person sees the error on the login page and is not redirected", async () => {
  await using provider = await TestProvider.start();
  const { person, relationship } = await provider.employ();
  await provider.demo.revoke(relationship);
  const browser = new Browser();
  const id = await browser.begin(await provider.authorizeUrl());
  const { challenge } = await browser.interaction(provider.origin, id);
  const attestation = person.attest(challenge, Date.now());
  const answer = await browser.answer(provider.origin, id, { attestation });
  const body = await answer.json();
  assertEquals([answer.status, body.code], [403, "relationship_denied"]);
  assertEquals(body.redirect_to, undefined);
  assertEquals(body.reasons[0].code, "revoked");
  assertEquals(answer.headers.get("set-cookie"), null);
});

Deno.test("a login replaces a planted session cookie and always has a new secret", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const browser = new Browser();
  const planted = `${"A".repeat(22)}.${"B".repeat(43)}`;
  browser.cookies.set(cookieAt("sig-session", provider), planted);
  const first = await browser.tokens(provider, person);
  const cookie = browser.cookies.get(cookieAt("sig-session", provider))!;
  assert(cookie !== planted && !cookie.startsWith("A".repeat(22)));
  // The second login continues the session with a new secret; the old secret is
  // invalid.
  const second = await browser.tokens(provider, person, { prompt: "login" });
  const newer = browser.cookies.get(cookieAt("sig-session", provider))!;
  assert(newer !== cookie);
  const sid = (token: string) =>
    JSON.parse(atob(token.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/")))
      .sid;
  assertEquals(sid(first.id_token), sid(second.id_token));
  const thief = new Browser();
  thief.cookies.set(cookieAt("sig-session", provider), cookie);
  assertEquals(await thief.silentError(provider), "login_required");
  // The session id, which applications know, is not sufficient.
  thief.cookies.set(
    cookieAt("sig-session", provider),
    `${sid(first.id_token)}.${"C".repeat(43)}`,
  );
  assertEquals(await thief.silentError(provider), "login_required");
});

Deno.test("a login of another person in the same browser ends the previous session", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const { person: bob } = await provider.employ();
  const browser = new Browser();
  const first = await browser.tokens(provider, person);
  await browser.tokens(provider, bob, { prompt: "login" });
  assertEquals((await provider.refresh(first.refresh_token)).status, 400);
});

Deno.test("cookies are host-only and HttpOnly, and two with the same name are ignored", async () => {
  const audience = "https://login.acme.example";
  const clients = readClients(
    JSON.stringify({ clients: await usualClients() }),
  );
  const app = createApp({
    audiences: [audience],
    issuers: ["acme.example"],
    require: ["relationship=employee"],
    openid: {
      clients: () => clients,
      keys: await testKeys(),
    },
  });
  await using here = await TestProvider.start();
  const { search } = new URL(await here.authorizeUrl());
  const response = await app.fetch(
    new Request(`http://127.0.0.1/oidc/authorize${search}`),
  );
  assertEquals(
    new URL(response.headers.get("location")!).origin,
    audience,
  );
  const [cookie = ""] = response.headers.getSetCookie();
  assertStringIncludes(cookie, "__Host-sig-browser=");
  for (const word of ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"]) {
    assertStringIncludes(cookie, word);
  }
  assert(!/domain/i.test(cookie));

  const { browser } = await here.logIn();
  const tossed = await fetch(await here.authorizeUrl({ prompt: "none" }), {
    headers: {
      cookie: `${browser.cookie}; ${cookieAt("sig-session", here)}=x`,
    },
    redirect: "manual",
  });
  await tossed.body?.cancel();
  const back = new URL(tossed.headers.get("location")!);
  assertEquals(back.searchParams.get("error"), "login_required");
});

Deno.test("Host and forwarded headers do not change any response", async () => {
  await using provider = await TestProvider.start();
  const url = `${provider.origin}/.well-known/openid-configuration`;
  const honest = await (await fetch(url)).text();
  const { hostname, port } = new URL(provider.origin);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const path = new URL(await provider.authorizeUrl());
  for (
    const target of [
      "/.well-known/openid-configuration",
      `${path.pathname}${path.search}`,
    ]
  ) {
    await connection.write(new TextEncoder().encode(
      `GET ${target} HTTP/1.1\r\nhost: evil.example\r\nx-forwarded-host: evil.example\r\nx-forwarded-proto: https\r\nforwarded: host=evil.example\r\n\r\n`,
    ));
    const buffer = new Uint8Array(16_384);
    let text = "";
    while (
      !/\r\n\r\n/.test(text) ||
      /openid-conf/.test(target) && !text.includes(honest)
    ) {
      const n = await connection.read(buffer);
      if (n === null) break;
      text += new TextDecoder().decode(buffer.subarray(0, n));
    }
    assert(!text.includes("evil.example"), text);
    assertStringIncludes(text, provider.origin);
  }
});

Deno.test("CORS allows pages of applications on public routes, and no other pages", async () => {
  await using provider = await TestProvider.start();
  const ask = async (path: string, origin: string, method = "OPTIONS") => {
    const response = await fetch(`${provider.origin}${path}`, {
      method,
      headers: { origin, "access-control-request-method": "POST" },
    });
    await response.body?.cancel();
    return response.headers.get("access-control-allow-origin");
  };
  const app = "https://spa.example";
  for (const path of ["/oidc/token", "/oidc/userinfo", "/oidc/revoke"]) {
    assertEquals(await ask(path, app), app);
    assertEquals(await ask(path, "https://evil.example"), null);
    assertEquals(await ask(path, "null"), null);
    assertEquals(await ask(path, "https://spa.example.evil.example"), null);
  }
  assertEquals(
    await ask("/.well-known/openid-configuration", app, "GET"),
    app,
  );
  const id = "A".repeat(32);
  for (const path of [`/oidc/interaction/${id}`, "/v1/auth/challenge/create"]) {
    assertEquals(await ask(path, app), null);
  }
});
