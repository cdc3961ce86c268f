import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { createApp } from "../app.ts";
import { readClients } from "./clients.ts";
import { createProvider } from "./provider.ts";
import {
  Browser,
  CALLBACK,
  cookieAt,
  statusOf,
  testKeys,
  TestProvider,
  usualClients,
} from "./testdata/test_provider.ts";

// promise: A login is finished in the browser that began it; planted cookies
//   are ignored.

async function problemOf(
  response: Response,
): Promise<readonly [number, string, string]> {
  const { code, detail } = await response.json();
  return [response.status, code, detail];
}

const UNKNOWN = [
  404,
  "not_found",
  "Cannot sign in: this request is unknown in this browser, or has expired",
] as const;

Deno.test("only the browser that started a login can read, finish or decline it", async () => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  const attacker = new Browser();
  const url = await provider.authorizeUrl();
  const { id, attestation, send } = await attacker.sign(provider, person, url);
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
  assertEquals(await statusOf(send()), 200);
});

Deno.test("pages of other sites, or of other hosts of the domain, can't finish a login", async (t) => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person, browser } = await provider.employ();
  const url = await provider.authorizeUrl();
  const { send } = await browser.sign(provider, person, url);
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
      const [status, code] = await problemOf(await send(headers));
      assertEquals([status, code], [403, "origin_not_allowed"]);
    });
  }
  await t.step("rejects a form", async () => {
    const answer = await send({ "content-type": "text/plain" });
    assertEquals((await problemOf(answer))[1], "unsupported_media_type");
  });
  await t.step("accepts the provider's own page", async () => {
    const headers = { origin, "sec-fetch-site": "same-origin" };
    assertEquals(await statusOf(send(headers)), 200);
  });
});

Deno.test("an interaction accepts one answer to its own challenge, by the requested person", async (t) => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person, browser } = await provider.employ();
  const { person: bob } = await provider.employ();
  const sign = async (changes: Record<string, string> = {}, claims = {}) => {
    const url = await provider.authorizeUrl({ prompt: "login", ...changes });
    return await browser.sign(provider, person, url, claims);
  };
  const post = (path: string, body: object) =>
    fetch(`${origin}/v1/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const refused: readonly (readonly [
    name: string,
    attempt: () => Promise<Response>,
    code: string,
  ])[] = [
    ["rejects an answer to another interaction", async () => {
      const [{ attestation }, { id }] = [await sign(), await sign()];
      return await browser.answer(origin, id, { attestation });
    }, "invalid_attestation"],
    ["rejects an answer to a challenge of the open endpoint", async () => {
      const { id } = await sign();
      const created = await post("challenge/create", { scopes: ["openid"] });
      const attestation = person.attest(await created.json(), Date.now());
      return await browser.answer(origin, id, { attestation });
    }, "challenge_not_found"],
    ["the open endpoint rejects an answer to an interaction", async () => {
      const { attestation } = await sign();
      return await post("attestation/verify", { attestation });
    }, "challenge_not_found"],
    ["rejects a person other than the hinted one", async () => {
      const { send } = await sign({ login_hint: bob.did });
      return await send();
    }, "subject_mismatch"],
    ["rejects an answer without openid", async () => {
      const { send } = await sign({}, { scope: "profile" });
      return await send();
    }, "scope_not_granted"],
  ];
  for (const [name, attempt, code] of refused) {
    await t.step(name, async () => {
      assertEquals((await problemOf(await attempt()))[1], code);
    });
  }
  await t.step("accepts only one of several identical answers", async () => {
    const { send } = await sign();
    const statuses = await Promise.all(
      [0, 1, 2, 3].map(() => statusOf(send())),
    );
    assertEquals(statuses.filter((status) => status === 200).length, 1);
    assertEquals(await problemOf(await send()), [
      409,
      "challenge_used",
      "Cannot accept attestation: its challenge has been used",
    ]);
  });
  await t.step(
    "rejects a body that is neither an answer nor a decline",
    async () => {
      const { id } = await sign();
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
      const { id, send } = await sign();
      const answer = await browser.answer(origin, id, { declined: true });
      const { redirect_to } = await answer.json();
      const { searchParams: parameters, origin: to } = new URL(redirect_to);
      assertEquals(to, new URL(CALLBACK).origin);
      assertEquals(
        ["error", "state", "iss"].map((name) => parameters.get(name)),
        ["access_denied", "s1", origin],
      );
      assertEquals(await statusOf(send()), 200);
    },
  );
});

Deno.test("a denied person sees the error on the login page and is not redirected", async () => {
  await using provider = await TestProvider.start();
  const { person, relationship } = await provider.employ();
  await provider.demo.revoke(relationship);
  const browser = new Browser();
  const url = await provider.authorizeUrl();
  const answer = await (await browser.sign(provider, person, url)).send();
  const body = await answer.json();
  assertEquals([answer.status, body.code], [403, "relationship_denied"]);
  assertEquals(body.redirect_to, undefined);
  assertEquals(body.reasons[0].code, "revoked");
  assertEquals(answer.headers.get("set-cookie"), null);
});

Deno.test("a login replaces a planted session cookie and always has a new secret", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
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
  const { sid } = decodeJwt(first.id_token);
  assertEquals(decodeJwt(second.id_token).sid, sid);
  const thief = new Browser();
  thief.cookies.set(cookieAt("sig-session", provider), cookie);
  assertEquals(await thief.silentError(provider), "login_required");
  // The session id, which applications know, is not sufficient.
  thief.cookies.set(
    cookieAt("sig-session", provider),
    `${sid}.${"C".repeat(43)}`,
  );
  assertEquals(await thief.silentError(provider), "login_required");
});

Deno.test("a login of another person in the same browser ends the previous session", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
  const { person: bob } = await provider.employ();
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
    openid: createProvider({
      clients: () => clients,
      keys: await testKeys(),
    }),
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
