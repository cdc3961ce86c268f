import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readAnswer } from "../testdata/answer.ts";
import {
  assertRefused,
  type Attempt,
  cookieAt,
  REFUSED,
  refuseEach,
  SECRET,
  sha256,
  statusOf,
  TestProvider,
  VERIFIER,
} from "./testdata/test_provider.ts";

// promise: A code or refresh token is used once; a second use revokes the
//   tokens of the first.

const { client, grant, request, scope, token } = REFUSED;
const noGrantType = [400, "unsupported_grant_type"] as const;

const CODE: readonly Attempt<Record<string, string>>[] = [
  ["another verifier", { code_verifier: "x".repeat(43) }, grant],
  ["no code", { code: "" }, request],
  ["no verifier", { code_verifier: "" }, request],
  ["a short verifier", { code_verifier: "short" }, grant],
  ["the challenge", { code_verifier: await sha256(VERIFIER) }, grant],
  [
    "another redirect_uri of the client",
    { redirect_uri: "https://app.example/cb?tenant=1" },
    grant,
  ],
  ["no redirect_uri", { redirect_uri: "" }, request],
  ["another client's name", { client_id: "other" }, grant],
  ["a public client's name", { client_id: "spa", client_secret: "" }, grant],
  ["a wrong secret", { client_secret: `${SECRET}x` }, client],
  ["no secret", { client_secret: "" }, client],
  ["the secret's digest", { client_secret: await sha256(SECRET) }, client],
  ["an unknown client", { client_id: "nobody" }, client],
  ["a password", { grant_type: "password" }, noGrantType],
  ["client credentials", { grant_type: "client_credentials" }, noGrantType],
  ["no grant_type", { grant_type: "" }, request],
  [
    "the code as a refresh token",
    { grant_type: "refresh_token", refresh_token: "$CODE" },
    grant,
  ],
  ["another code", { code: `${"A".repeat(22)}.${"A".repeat(43)}` }, grant],
  ["a code of another shape", { code: "../../x" }, grant],
];

Deno.test("a code is only valid for its client, with the client's credentials and the verifier", async (t) => {
  await using provider = await TestProvider.start();
  provider.frozenMs = Date.now();
  const [code, later] = [await provider.newCode(), await provider.newCode()];
  await refuseEach(t, CODE, (changes) => {
    const given = changes.refresh_token === "$CODE"
      ? { ...changes, refresh_token: code }
      : changes;
    return provider.redeem(code, given);
  });
  const post = (body: string, type?: string) =>
    provider.post("/oidc/token", body, type ? { "content-type": type } : {});
  const fields = `grant_type=authorization_code&code=${code}`;
  await refuseEach(t, [
    ["a duplicate field", () => post(`${fields}&code=${code}`), request],
    ["JSON", () => post("{}", "application/json"), request],
  ], (send) => send());
  const get = fetch(`${provider.origin}/oidc/token`);
  assertEquals(await statusOf(get), 405);
  // The attempts have not invalidated the code, which is valid for a minute.
  provider.skewMs = 59_999;
  assertEquals((await provider.redeem(code)).status, 200);
  provider.skewMs = 60_000;
  assertRefused(await provider.redeem(later), grant);
});

Deno.test("a second use of a code revokes all of its tokens", async () => {
  await using provider = await TestProvider.start();
  const code = await provider.newCode();
  const { body } = await provider.redeem(code);
  assertEquals((await provider.userinfo(body.access_token)).status, 200);
  // The issuer is not needed for that.
  provider.issuerIsDown = true;
  const again = await provider.redeem(code);
  assertRefused(again, REFUSED.grant);
  assertStringIncludes(again.body.error_description, "used before");
  assertEquals((await provider.userinfo(body.access_token)).status, 401);
  assertRefused(await provider.refresh(body.refresh_token), REFUSED.grant);
});

Deno.test("refresh tokens rotate; reuse of an old one revokes the family, a forged one does not", async () => {
  await using provider = await TestProvider.start();
  const first = await provider.logIn();
  const [id] = first.refresh_token.split(".");
  for (const token of [`${id}.${"A".repeat(43)}`, first.access_token]) {
    assertRefused(await provider.refresh(token), REFUSED.grant);
  }
  const second = (await provider.refresh(first.refresh_token)).body;
  assert(second.refresh_token !== first.refresh_token);
  const third = (await provider.refresh(second.refresh_token)).body;
  assertRefused(await provider.refresh(first.refresh_token), REFUSED.grant);
  assertRefused(await provider.refresh(third.refresh_token), REFUSED.grant);
  assertEquals((await provider.userinfo(third.access_token)).status, 401);
});

Deno.test("a refresh token is only valid for its client, its scope and refreshing", async (t) => {
  await using provider = await TestProvider.start();
  const { refresh_token, access_token, id_token } = await provider.logIn();
  const address = `/oidc/userinfo?access_token=${access_token}`;
  await refuseEach(t, [
    [
      "another client",
      () => provider.refresh(refresh_token, { client_id: "other" }),
      grant,
    ],
    [
      "a client that may not refresh",
      () =>
        provider.refresh(refresh_token, {
          ...{ client_id: "spa", client_secret: "" },
        }),
      [400, "unauthorized_client"],
    ],
    [
      "more than was granted",
      () => provider.refresh(refresh_token, { scope: "openid offline_access" }),
      scope,
    ],
    ["it as an access token", () => provider.userinfo(refresh_token), token],
    ["an ID token as one", () => provider.userinfo(id_token), token],
    [
      "an access token in the address",
      () => readAnswer(fetch(provider.origin + address)),
      token,
    ],
  ], (send) => send());
  // The attempts have not invalidated the tokens.
  assertEquals((await provider.userinfo(access_token)).status, 200);
  assertEquals((await provider.refresh(refresh_token)).status, 200);
  provider.skewMs += 300_000;
  assertRefused(await provider.userinfo(access_token), token);
});

Deno.test("only its own client can revoke a token", async () => {
  await using provider = await TestProvider.start();
  const code = await provider.newCode();
  const { access_token, refresh_token } = (await provider.redeem(code)).body;
  const revoke = (token: string, changes: Record<string, string> = {}) =>
    provider.post("/oidc/revoke", {
      ...{ token, client_id: "app", client_secret: SECRET },
      ...changes,
    });
  assertEquals(
    (await revoke(refresh_token, { client_id: "other" })).status,
    200,
  );
  assertRefused(
    await revoke(refresh_token, { client_secret: "x" }),
    REFUSED.client,
  );
  assertEquals((await revoke("unknown")).status, 200);
  assertEquals((await provider.userinfo(access_token)).status, 200);
  assertEquals((await revoke(access_token)).status, 200);
  assertEquals((await provider.userinfo(access_token)).status, 401);
  // The family is not revoked with its access token.
  const { status, body: next } = await provider.refresh(refresh_token);
  assertEquals(status, 200);
  assertEquals((await revoke(next.refresh_token)).status, 200);
  assertEquals((await provider.userinfo(next.access_token)).status, 401);
});

Deno.test("a form that is too large is invalid_request without Retry-After", async () => {
  await using provider = await TestProvider.start();
  for (const path of ["/oidc/token", "/oidc/revoke"]) {
    const { status, body, headers } = await provider.post(path, {
      token: "a".repeat(16 * 1024),
    });
    assertEquals([status, body], [400, {
      error: "invalid_request",
      error_description: "Cannot read body: it is larger than 16384 bytes",
    }]);
    assertEquals(headers.get("retry-after"), null);
  }
});

// promise: The store holds digests of codes, tokens and cookies.

Deno.test("a reader of the store can't obtain a valid code, token or cookie", async () => {
  const written: string[] = [];
  const store = createMemoryStore();
  const recording: RecordStore = {
    ...store,
    put(kind, id, record, over, at) {
      written.push(id, record.text);
      return store.put(kind, id, record, over, at);
    },
  };
  await using provider = await TestProvider.start({ store: recording });
  const { person, browser } = await provider.employ();
  const code = await browser.signInForCode(provider, person);
  const { body } = await provider.redeem(code);
  const { cookies } = browser;
  const secrets = [
    code,
    body.access_token,
    body.refresh_token,
    cookies.get(cookieAt("sig-session", provider))!,
    `.${cookies.get(cookieAt("sig-browser", provider))!}`,
  ].map((token) => token.split(".").at(-1)!);
  assertEquals(secrets.map((secret) => secret.length), Array(5).fill(43));
  const all = written.join("\n");
  assert(all.includes(person.did));
  for (const secret of secrets) assert(!all.includes(secret));
});
