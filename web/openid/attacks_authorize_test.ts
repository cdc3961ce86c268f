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
import { readAnswer } from "../testdata/answer.ts";
import {
  Browser,
  CALLBACK,
  OTHER,
  testKeys,
  testKeysText,
  TestProvider,
} from "./testdata/test_provider.ts";

// promise: A code goes only to a registered redirect URI, compared exactly.

/** Parameters of an authorization link; undefined ones are omitted. */
type Changes = Record<string, string | undefined>;

/** Requests that must show an error page instead of redirecting. */
const TO_A_PAGE: readonly (readonly [attack: string, changes: Changes])[] = [
  ["an unknown client", { client_id: "nobody" }],
  ["no client", { client_id: undefined }],
  ["no redirect_uri", { redirect_uri: undefined }],
  ...Object.entries({
    "an empty one": "",
    "another client's": OTHER.redirect_uri,
    "a slash more": `${CALLBACK}/`,
    "a path below": `${CALLBACK}/x`,
    "a path with dot segments": "https://app.example/x/../callback",
    "a query more": `${CALLBACK}?x=1`,
    "another query": "https://app.example/cb?tenant=2",
    "a query without its part": "https://app.example/cb",
    "a fragment": `${CALLBACK}#x`,
    "another scheme": "http://app.example/callback",
    "capital letters": "https://APP.example/callback",
    "a port": "https://app.example:443/callback",
    "a user": "https://app.example@evil.example/callback",
    "a longer host": "https://app.example.evil.example/callback",
    "a backslash": "https://app.example\\@evil.example/",
    "an encoded letter": "https://app.example/%63allback",
    "a script": "javascript:alert(1)",
    "white space": ` ${CALLBACK}`,
  }).map(([attack, redirect_uri]) => [attack, { redirect_uri }] as const),
];

Deno.test("never redirects to an address that is not exactly a registered one", async (t) => {
  await using provider = await TestProvider.start();
  const addresses = new Map<string, string>();
  for (const [attack, changes] of TO_A_PAGE) {
    addresses.set(attack, await provider.authorizeUrl(changes));
  }
  const own = await provider.authorizeUrl();
  for (const name of ["client_id", "redirect_uri"]) {
    const again = new URL(own).searchParams.get(name)!;
    const twice = new URLSearchParams({ [name]: again });
    addresses.set(`${name} twice`, `${own}&${twice}`);
  }
  for (const [attack, url] of addresses) {
    await t.step(attack, async () => {
      const { status, headers, text } = await readAnswer(
        new Browser().send(url, { headers: { accept: "text/html" } }),
      );
      assertEquals([status, headers.get("location")], [400, null]);
      assertStringIncludes(text, "<p>Cannot sign in: ");
      // The page does not contain the input.
      assert(!text.includes("evil") && !text.includes("alert"));
      assertEquals(headers.get("x-frame-options"), "DENY");
    });
  }
});

/** Requests whose errors go to the application, with `iss` and the state. */
const SENT_TO_APPLICATION: Readonly<Record<string, readonly Changes[]>> = {
  invalid_request: [
    { code_challenge: undefined },
    { code_challenge_method: "plain" },
    { code_challenge_method: undefined },
    { code_challenge: "short" },
    { response_type: undefined },
    { response_mode: "fragment" },
    { scope: undefined },
    { prompt: "none login" },
    { prompt: "create" },
    { max_age: "-1" },
    { id_token_hint: "x.y.z" },
    { nonce: "n".repeat(1_025) },
    { login_hint: "n".repeat(5_000) },
  ],
  unsupported_response_type: [
    { response_type: "id_token token" },
    { response_type: "code id_token" },
  ],
  request_not_supported: [{ request: "e30.e30." }],
  request_uri_not_supported: [{ request_uri: "http://169.254.169.254/" }],
  registration_not_supported: [{ registration: "{}" }],
  invalid_scope: [{ scope: "profile" }],
  // A silent request of a stranger.
  login_required: [{ prompt: "none" }],
};

Deno.test("sends errors to the application, with iss and state", async (t) => {
  await using provider = await TestProvider.start();
  const cases = Object.entries(SENT_TO_APPLICATION).flatMap(([error, all]) =>
    all.map((changes) => ({ error, changes, also: "" }))
  );
  for (const name of ["scope", "nonce", "code_challenge", "prompt", "x"]) {
    cases.push({
      error: "invalid_request",
      changes: { [name]: "openid" },
      also: `&${name}=openid`,
    });
  }
  for (const { error, changes, also } of cases) {
    const [sent = []] = Object.entries(changes);
    await t.step(`${sent.join("=").slice(0, 60)}${also}`, async () => {
      const url = await provider.authorizeUrl(changes);
      const back = await new Browser().follow(url + also);
      const { searchParams: parameters } = back;
      assertEquals(`${back.origin}${back.pathname}`, CALLBACK);
      assertEquals(
        ["error", "iss", "state", "code"].map((name) => parameters.get(name)),
        [error, provider.origin, "s1", null],
      );
    });
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
  const errorOf = (id_token_hint: string, more: Record<string, string> = {}) =>
    browser.silentError(provider, { id_token_hint, ...more });
  for (const [what, hint] of Object.entries(hints)) {
    await t.step(what, async () => {
      assertEquals(await errorOf(hint), "invalid_request");
    });
  }
  await t.step("accepts a valid hint, even if it has expired", async () => {
    provider.skewMs = 3_600_000;
    assertEquals(await errorOf(id_token), null);
  });
  await t.step("a hint for another person gives no silent login", async () => {
    const { person: bob } = await provider.employ();
    const hint = await sign({}, { sub: bob.did }).sign(key);
    assertEquals(await errorOf(hint), "login_required");
  });
  await t.step("login_hint must name the same person", async () => {
    const bob = { login_hint: "did:web:bob.example" };
    assertEquals(await errorOf(id_token, bob), "invalid_request");
    assertEquals(await errorOf(id_token, { login_hint: person.did }), null);
  });
});

Deno.test("prompt makes the person sign again", async () => {
  await using provider = await TestProvider.start();
  const { browser } = await provider.logIn();
  const prompts = ["login", "consent", "select_account", "login consent"];
  for (const prompt of prompts) {
    await browser.begin(await provider.authorizeUrl({ prompt }));
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
  const begin = "b".repeat(43);
  const gate = `/gate/login?begin=${begin}&rd=http://wiki.example/`;
  await new Browser().begin(await provider.authorizeUrl());
  await new Browser().begin(provider.origin + gate);
  assertEquals(written, []);
});
