import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { decodeJwt } from "jose";
import type { Answer } from "../testdata/answer.ts";
import {
  Browser,
  CALLBACK,
  cookieAt,
  TestProvider,
} from "./testdata/test_provider.ts";

// promise: A login is finished in the browser that began it; planted cookies
//   are ignored.

const UNKNOWN = [
  404,
  "not_found",
  "Cannot sign in: this request is unknown in this browser, or has expired",
];

Deno.test("only the browser that started a login can read, finish or decline it", async () => {
  await using provider = await TestProvider.start();
  const { origin } = provider;
  const { person } = await provider.employ();
  const attacker = new Browser();
  const url = await provider.authorizeUrl();
  const { id, attestation, send } = await attacker.sign(provider, person, url);
  const victim = new Browser();
  await victim.begin(url);
  for (const browser of [new Browser(), victim]) {
    const answers = [await browser.ask(`${origin}/oidc/interaction/${id}`)];
    for (const body of [{ attestation }, { declined: true }]) {
      answers.push(await browser.answer(origin, id, body));
    }
    for (const { status, body, headers } of answers) {
      assertEquals([status, body.code, body.detail], UNKNOWN);
      assertEquals(headers.get("set-cookie"), null);
    }
  }
  // The login is unchanged.
  assertEquals((await send()).status, 200);
  // A changed one is unknown to its own browser too, and an old one.
  const read = async (id: string) => {
    const url = `${origin}/oidc/interaction/${id}`;
    return (await attacker.ask(url)).status;
  };
  assertEquals([await read(`${id}x`), await read(`e${id}`)], [404, 404]);
  provider.skewMs = 15 * 60_000 - 1_000;
  assertEquals(await read(id), 200);
  provider.skewMs = 15 * 60_000 + 1_000;
  assertEquals(await read(id), 404);
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
      const { status, body } = await send(headers);
      assertEquals([status, body.code], [403, "origin_not_allowed"]);
    });
  }
  const form = await send({ "content-type": "text/plain" });
  assertEquals(form.body.code, "unsupported_media_type");
  const own = { origin, "sec-fetch-site": "same-origin" };
  assertEquals((await send(own)).status, 200);
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
    browser.ask(`${origin}/v1/auth/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const refused: Record<string, () => Promise<readonly [Answer, string]>> = {
    "an answer to another interaction": async () => {
      const [{ attestation }, { id }] = [await sign(), await sign()];
      const answer = await browser.answer(origin, id, { attestation });
      return [answer, "invalid_attestation"];
    },
    "an answer to a challenge of the open endpoint": async () => {
      const { id } = await sign();
      const { body } = await post("challenge/create", { scopes: ["openid"] });
      const attestation = person.attest(body, Date.now());
      const answer = await browser.answer(origin, id, { attestation });
      return [answer, "challenge_not_found"];
    },
    "an answer to an interaction at the open endpoint": async () => {
      const { attestation } = await sign();
      const answer = await post("attestation/verify", { attestation });
      return [answer, "challenge_not_found"];
    },
    "a person other than the hinted one": async () => {
      const { send } = await sign({ login_hint: bob.did });
      return [await send(), "subject_mismatch"];
    },
    "an answer without openid": async () => {
      const { send } = await sign({}, { scope: "profile" });
      return [await send(), "scope_not_granted"];
    },
  };
  for (const [what, attempt] of Object.entries(refused)) {
    await t.step(`rejects ${what}`, async () => {
      const [{ body }, code] = await attempt();
      assertEquals(body.code, code);
    });
  }
  await t.step("accepts only one of several identical answers", async () => {
    const { send } = await sign();
    const answers = await Promise.all([send(), send(), send(), send()]);
    const won = answers.filter(({ status }) => status === 200);
    assertEquals(won.length, 1);
    const { status, body } = await send();
    assertEquals([status, body.code, body.detail], [
      409,
      "challenge_used",
      "Cannot accept attestation: its challenge has been used",
    ]);
  });
  await t.step("rejects what is neither an answer nor a decline", async () => {
    const { id } = await sign();
    for (const sent of [{}, { declined: false }, { declined: true, x: 1 }]) {
      const { status, body } = await browser.answer(origin, id, sent);
      assertEquals(status, 400);
      assertMatch(body.code, /^(?:invalid_request|missing_field)$/);
    }
  });
  await t.step(
    "a decline redirects to the application, and the same link can still be used",
    async () => {
      const { id, send } = await sign();
      const { body } = await browser.answer(origin, id, { declined: true });
      const { searchParams: parameters, origin: to } = new URL(
        body.redirect_to,
      );
      assertEquals(to, new URL(CALLBACK).origin);
      assertEquals(
        ["error", "state", "iss"].map((name) => parameters.get(name)),
        ["access_denied", "s1", origin],
      );
      assertEquals((await send()).status, 200);
    },
  );
});

Deno.test("a login replaces a planted session cookie and always has a new secret", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.employ();
  const planted = `${"A".repeat(22)}.${"B".repeat(43)}`;
  const name = cookieAt("sig-session", provider);
  browser.cookies.set(name, planted);
  const first = await browser.tokens(provider, person);
  const cookie = browser.cookies.get(name)!;
  assert(cookie !== planted && !cookie.startsWith("A".repeat(22)));
  // The second login continues the session with a new secret; the old secret is
  // invalid.
  const second = await browser.tokens(provider, person, { prompt: "login" });
  assert(browser.cookies.get(name) !== cookie);
  const { sid } = decodeJwt(first.id_token);
  assertEquals(decodeJwt(second.id_token).sid, sid);
  const thief = new Browser();
  // The session id, which applications know, is not sufficient.
  for (const stolen of [cookie, `${sid}.${"C".repeat(43)}`]) {
    thief.cookies.set(name, stolen);
    assertEquals(await thief.silentError(provider), "login_required");
  }
});

Deno.test("Host and forwarded headers do not change any response", async () => {
  await using provider = await TestProvider.start();
  const { hostname, port, pathname, search } = new URL(
    await provider.authorizeUrl(),
  );
  const discovery = "/.well-known/openid-configuration";
  for (const target of [discovery, `${pathname}${search}`]) {
    using connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(new TextEncoder().encode(
      `GET ${target} HTTP/1.1\r\nhost: evil.example\r\nx-forwarded-host: evil.example\r\nx-forwarded-proto: https\r\nforwarded: host=evil.example\r\nconnection: close\r\n\r\n`,
    ));
    const text = await new Response(connection.readable).text();
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
