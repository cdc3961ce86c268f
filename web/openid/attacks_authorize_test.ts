import { createMemoryStore } from "@sig/consumer/store";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import {
  Browser,
  CALLBACK,
  OTHER,
  statusOf,
  testKeys,
  testKeysText,
  TestProvider,
} from "./testdata/test_provider.ts";

// promise: A code goes only to a registered redirect URI, compared exactly.

/** Attacks by an authorization link. */
type Changes = Record<string, string | undefined>;

/** Requests that must show an error page instead of redirecting. */
const TO_A_PAGE: readonly (readonly [attack: string, changes: Changes])[] = [
  ["an unknown client", { client_id: "nobody" }],
  ["no client", { client_id: undefined }],
  ["no redirect_uri", { redirect_uri: undefined }],
  ...[
    ["an empty one", ""],
    ["another client's", OTHER.redirect_uri],
    ["a slash more", `${CALLBACK}/`],
    ["a path below", `${CALLBACK}/x`],
    ["a path with dot segments", "https://app.example/x/../callback"],
    ["a query more", `${CALLBACK}?x=1`],
    ["another query", "https://app.example/cb?tenant=2"],
    ["a query without its part", "https://app.example/cb"],
    ["a fragment", `${CALLBACK}#x`],
    ["another scheme", "http://app.example/callback"],
    ["capital letters", "https://APP.example/callback"],
    ["a port", "https://app.example:443/callback"],
    ["a user", "https://app.example@evil.example/callback"],
    ["a longer host", "https://app.example.evil.example/callback"],
    ["a backslash", "https://app.example\\@evil.example/"],
    ["an encoded letter", "https://app.example/%63allback"],
    ["a script", "javascript:alert(1)"],
    ["white space", ` ${CALLBACK}`],
  ].map(([attack = "", redirect_uri]) => [attack, { redirect_uri }] as const),
];

Deno.test("never redirects to an address that is not exactly a registered one", async (t) => {
  await using provider = await TestProvider.start();
  for (const [attack, changes] of TO_A_PAGE) {
    await t.step(attack, async () => {
      const response = await fetch(await provider.authorizeUrl(changes), {
        headers: { accept: "text/html" },
        redirect: "manual",
      });
      const text = await response.text();
      assertEquals(response.status, 400);
      assertEquals(response.headers.get("location"), null);
      assertStringIncludes(text, "<p>Cannot sign in: ");
      // The page does not contain the input.
      assert(!text.includes("evil") && !text.includes("alert"));
      assertEquals(response.headers.get("x-frame-options"), "DENY");
    });
  }
  for (const name of ["client_id", "redirect_uri"]) {
    await t.step(`${name} twice`, async () => {
      const url = await provider.authorizeUrl();
      const again = new URL(url).searchParams.get(name)!;
      const response = await fetch(
        `${url}&${new URLSearchParams({ [name]: again })}`,
        { redirect: "manual" },
      );
      assertEquals(await statusOf(response), 400);
      assertEquals(response.headers.get("location"), null);
    });
  }
});

/** Requests whose errors go to the application, with `iss` and the state. */
const SENT_TO_APPLICATION: readonly (readonly [
  attack: string,
  changes: Changes,
  error: string,
])[] = [
  ["no PKCE", { code_challenge: undefined }, "invalid_request"],
  ["PKCE by plain", { code_challenge_method: "plain" }, "invalid_request"],
  [
    "PKCE of no method",
    { code_challenge_method: undefined },
    "invalid_request",
  ],
  ["an invalid challenge", { code_challenge: "short" }, "invalid_request"],
  [
    "implicit flow",
    { response_type: "id_token token" },
    "unsupported_response_type",
  ],
  [
    "hybrid flow",
    { response_type: "code id_token" },
    "unsupported_response_type",
  ],
  ["no response_type", { response_type: undefined }, "invalid_request"],
  ["an answer in a fragment", { response_mode: "fragment" }, "invalid_request"],
  ["a request object", { request: "e30.e30." }, "request_not_supported"],
  ["a request to fetch", {
    request_uri: "http://169.254.169.254/",
  }, "request_uri_not_supported"],
  ["a registration", { registration: "{}" }, "registration_not_supported"],
  ["no openid", { scope: "profile" }, "invalid_scope"],
  ["no scope", { scope: undefined }, "invalid_request"],
  [
    "prompts that exclude each other",
    { prompt: "none login" },
    "invalid_request",
  ],
  ["a prompt that there is not", { prompt: "create" }, "invalid_request"],
  ["a max_age that is not a number", { max_age: "-1" }, "invalid_request"],
  ["a silent request of a stranger", { prompt: "none" }, "login_required"],
  ["a hint that is not a token", { id_token_hint: "x.y.z" }, "invalid_request"],
  ["a long parameter", { nonce: "n".repeat(1_025) }, "invalid_request"],
  ["a very long one", { login_hint: "n".repeat(5_000) }, "invalid_request"],
];

Deno.test("sends errors to the application, with iss and state", async (t) => {
  await using provider = await TestProvider.start();
  const follow = async (url: string, error: string) => {
    const back = await new Browser().follow(url);
    const { searchParams: parameters } = back;
    assertEquals(`${back.origin}${back.pathname}`, CALLBACK);
    assertEquals(parameters.get("error"), error);
    assertEquals(parameters.get("iss"), provider.origin);
    assertEquals(parameters.get("state"), "s1");
    assertEquals(parameters.get("code"), null);
  };
  for (const [attack, changes, error] of SENT_TO_APPLICATION) {
    await t.step(
      attack,
      async () => await follow(await provider.authorizeUrl(changes), error),
    );
  }
  for (const name of ["scope", "nonce", "code_challenge", "prompt", "x"]) {
    await t.step(`${name} twice`, async () =>
      await follow(
        `${await provider.authorizeUrl({ [name]: "openid" })}&${name}=openid`,
        "invalid_request",
      ));
  }
});

Deno.test("a state can't inject anything into the redirect address", async () => {
  await using provider = await TestProvider.start();
  const state = "x\r\nset-cookie: a=b&code=stolen#f";
  const back = await new Browser().follow(
    await provider.authorizeUrl({ state, prompt: "none" }),
  );
  assertEquals(back.searchParams.get("state"), state);
  assertEquals([back.hash, back.searchParams.get("code")], ["", null]);
  // With two states neither is repeated.
  const twice = await new Browser().follow(
    `${await provider.authorizeUrl()}&state=other`,
  );
  assertEquals(twice.searchParams.get("error"), "invalid_request");
  assertEquals(twice.searchParams.get("state"), null);
});

Deno.test("an id_token_hint must be an ID token of this provider for this application", async (t) => {
  await using provider = await TestProvider.start();
  const { person, browser, id_token } = await provider.logIn();
  const keys = await testKeys();
  const claims = { sub: person.did, aud: "app", iss: provider.origin };
  const kid = String(keys.jwks.keys.find(({ alg }) => alg === "ES256")!.kid);
  const file: { keys: JWK[] } = JSON.parse(await testKeysText());
  const key = await importJWK(file.keys.find(({ alg }) => alg === "ES256")!);
  const sign = (header: object, more: object = {}) =>
    new SignJWT({ ...claims, ...more })
      .setProtectedHeader({ alg: "ES256", typ: "JWT", kid, ...header });
  const foreign = await generateKeyPair("ES256");
  const publicJwk = keys.jwks.keys[0]!;
  const hints: Record<string, string> = {
    "of another key": await sign({}).sign(foreign.privateKey),
    "of another key that it brings along": await sign({
      jwk: await exportJWK(foreign.publicKey),
    }).sign(foreign.privateKey),
    "that nobody signed": new UnsecuredJWT(claims).encode(),
    "signed by our public key as a secret": await new SignJWT(claims)
      .setProtectedHeader({
        ...{ alg: "HS256", typ: "JWT", kid: String(publicJwk.kid) },
      }).sign(new TextEncoder().encode(JSON.stringify(publicJwk))),
    "of another issuer": await sign({}, { iss: "https://x.example" }).sign(key),
    "for another application": await sign({}, { aud: "other" }).sign(key),
    "that is a logout token": await sign({ typ: "logout+jwt" }).sign(key),
  };
  for (const [what, hint] of Object.entries(hints)) {
    await t.step(what, async () => {
      const back = await browser.follow(
        await provider.authorizeUrl({ id_token_hint: hint }),
      );
      assertEquals(back.searchParams.get("error"), "invalid_request");
    });
  }
  await t.step("accepts a valid hint, even if it has expired", async () => {
    provider.skewMs = 3_600_000;
    const back = await browser.follow(
      await provider.authorizeUrl({ id_token_hint: id_token }),
    );
    assert(back.searchParams.has("code"));
  });
  await t.step("a hint for another person gives no silent login", async () => {
    const { person: bob } = await provider.employ();
    const hint = await sign({}, { sub: bob.did }).sign(key);
    assertEquals(
      await browser.silentError(provider, { id_token_hint: hint }),
      "login_required",
    );
  });
  await t.step("login_hint must name the same person", async () => {
    const errorOf = (login_hint: string) =>
      browser.silentError(provider, { id_token_hint: id_token, login_hint });
    assertEquals(await errorOf("did:web:bob.example"), "invalid_request");
    assertEquals(await errorOf(person.did), null);
  });
});

Deno.test("prompt makes the person sign again", async () => {
  await using provider = await TestProvider.start();
  const { browser } = await provider.logIn();
  for (
    const prompt of ["login", "consent", "select_account", "login consent"]
  ) {
    const { hash } = await browser.follow(
      await provider.authorizeUrl({ prompt }),
    );
    assertStringIncludes(hash, "#/sign-in/");
  }
});

Deno.test("login requests write nothing to the store", async () => {
  const store = createMemoryStore();
  const written: string[] = [];
  await using provider = await TestProvider.start({
    store: {
      ...store,
      put(kind, ...record) {
        written.push(kind.name);
        return store.put(kind, ...record);
      },
    },
    settings: { gateHosts: ["wiki.example"] },
  });
  const { origin } = provider;
  const begin = "b".repeat(43);
  for (
    const url of [
      await provider.authorizeUrl(),
      `${origin}/gate/login?begin=${begin}&rd=http://wiki.example/`,
    ]
  ) {
    await new Browser().begin(url);
  }
  assertEquals(written, []);
});
