import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { SigError } from "@sig/core";
import { assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import {
  assertRefused,
  type Attempt,
  CALLBACK,
  type Fields,
  OTHER,
  REFUSED,
  refuseEach,
  SECRET,
  TestProvider,
  usualClients,
  VERIFIER,
} from "./testdata/test_provider.ts";
import { assertionKind } from "../store/kinds.ts";

// promise: A client authenticates with its one registered method; assertions
//   are usable once.

function basic(id: string, secret: string): Fields {
  const form = (text: string) =>
    encodeURIComponent(text).replaceAll("%20", "+");
  const bytes = new TextEncoder().encode(`${form(id)}:${form(secret)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

/** Redeems one code, which a refused client does not use up. */
async function redeemOf(provider: TestProvider) {
  const code = await provider.newCode();
  return (fields: Fields, headers: Fields = {}) =>
    provider.post("/oidc/token", {
      ...{ grant_type: "authorization_code", code },
      ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER, ...fields },
    }, headers);
}

Deno.test("accepts a secret in the header or the form, but not both", async (t) => {
  const clients = await usualClients();
  clients[0]!.token_endpoint_auth_method = "client_secret_basic";
  await using provider = await TestProvider.start({ clients });
  const redeem = await redeemOf(provider);
  const own = basic("app", SECRET);
  const secret = { client_id: "app", client_secret: SECRET };
  await refuseEach<readonly [Fields, Fields?]>(t, [
    ["a method that is not the client's", [secret], REFUSED.client],
    ["two methods", [{ client_secret: SECRET }, own], REFUSED.request],
    ["two client ids", [{ client_id: "other" }, own], REFUSED.request],
  ], (sent) => redeem(...sent));
  const invalid = [
    basic("app", "x"),
    { authorization: "Basic %%%" },
    { authorization: "Basic YXBw" },
    { authorization: `Bearer ${SECRET}` },
  ];
  await refuseEach(
    t,
    invalid.map((headers): Attempt<Fields> => [
      ...[`${headers.authorization}, and names the scheme`, headers] as const,
      REFUSED.client,
    ]),
    async (headers) => {
      const answer = await redeem({}, headers);
      const scheme = answer.headers.get("www-authenticate");
      assertEquals(scheme, 'Basic realm="sig-web"');
      return answer;
    },
  );
  await t.step("accepts a form-encoded secret in the header", async () => {
    assertEquals((await redeem({}, own)).status, 200);
  });
});

Deno.test("an assertion must be for this provider, signed by its client, short-lived and unused", async (t) => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", {
    extractable: true,
  });
  const jwk = { ...await exportJWK(publicKey), alg: "ES256", kid: "k" };
  const jwks = { keys: [jwk] };
  const memory = createMemoryStore();
  let isFull = false;
  const store: RecordStore = {
    ...memory,
    put: (kind, ...record) =>
      isFull && kind.name === assertionKind("app").name
        ? Promise.reject(new SigError("rate_limited", { reason: "It is full" }))
        : memory.put(kind, ...record),
  };
  await using provider = await TestProvider.start({
    store,
    clients: [
      { client_id: "app", jwks, redirect_uris: [CALLBACK] },
      { client_id: "other", jwks, redirect_uris: [CALLBACK] },
    ],
  });
  const nowSeconds = Math.floor(Date.now() / 1000);
  const assertion = (
    changes: Record<string, unknown> = {},
    key: Parameters<SignJWT["sign"]>[0] = privateKey,
    alg = "ES256",
  ) =>
    new SignJWT({
      ...{ iss: "app", sub: "app", aud: provider.origin },
      ...{ jti: crypto.randomUUID(), exp: nowSeconds + 60 },
      ...changes,
    }).setProtectedHeader({ alg, kid: "k" }).sign(key);
  const post = await redeemOf(provider);
  const redeem = async (client_assertion: string, changes: Fields = {}) =>
    await post({
      client_assertion_type:
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion,
      ...changes,
    });
  const foreign = (await generateKeyPair("ES256")).privateKey;
  const k = btoa(JSON.stringify(jwk)).replace(/[+/=]/g, "");
  const secret = await importJWK({ kty: "oct", k }, "HS256");
  const elsewhere = "https://x.example";
  const unsigned = [
    { alg: "none" },
    { iss: "app", sub: "app", aud: provider.origin },
  ].map((part) => btoa(JSON.stringify(part)).replaceAll("=", "")).join(".");
  const { client, request } = REFUSED;
  await refuseEach<readonly [Promise<string> | string, Fields?]>(t, [
    ["one of another key", [assertion({}, foreign)], client],
    ["one for another server", [assertion({ aud: elsewhere })], client],
    ["one that is over", [assertion({ exp: nowSeconds - 60 })], client],
    ["one for a day", [assertion({ exp: nowSeconds + 90_000 })], client],
    ["one without exp", [assertion({ exp: undefined })], client],
    ["one without jti", [assertion({ jti: undefined })], client],
    ["an empty jti", [assertion({ jti: "" })], client],
    [
      "one for several servers",
      [assertion({ aud: [provider.origin, elsewhere] })],
      client,
    ],
    ["a list of one", [assertion({ aud: [provider.origin] })], client],
    ["one of another issuer", [assertion({ iss: "other" })], client],
    ["an unknown client's", [assertion({ iss: "x", sub: "x" })], client],
    ["one by the public key", [assertion({}, secret, "HS256")], client],
    ["one that nobody signed", [`${unsigned}.`], client],
    ["another client's id", [assertion(), { client_id: "other" }], client],
    ["another type", [assertion(), { client_assertion_type: "x" }], request],
  ], async ([made, changes]) => await redeem(await made, changes));
  await t.step("used twice", async () => {
    const once = await assertion();
    assertEquals((await redeem(once)).status, 200);
    assertRefused(await redeem(once), client);
  });
  await t.step("too many of one client do not affect others", async () => {
    isFull = true;
    assertRefused(await redeem(await assertion()), [
      503,
      "temporarily_unavailable",
    ]);
    const { client_id, redirect_uri } = OTHER;
    const own = await assertion({ iss: client_id, sub: client_id });
    assertRefused(await redeem(own, { redirect_uri }), REFUSED.grant);
  });
});
