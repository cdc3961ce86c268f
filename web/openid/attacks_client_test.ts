import { assertEquals } from "@std/assert";
import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import {
  assertRefused,
  CALLBACK,
  OTHER,
  SECRET,
  TestProvider,
  usualClients,
  VERIFIER,
} from "./testdata/test_provider.ts";
import { assertionKind } from "../sessions/client_kinds.ts";

// promise: A client authenticates with its one registered method; assertions
//   are usable once.

function basic(id: string, secret: string): Record<string, string> {
  const form = (text: string) =>
    encodeURIComponent(text).replaceAll("%20", "+");
  const bytes = new TextEncoder().encode(`${form(id)}:${form(secret)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

Deno.test("accepts a secret in the header or the form, but not both", async (t) => {
  const clients = await usualClients();
  clients[0]!.token_endpoint_auth_method = "client_secret_basic";
  await using provider = await TestProvider.start({ clients });
  const send = async (
    fields: Record<string, string>,
    headers: Record<string, string>,
  ) => {
    return await provider.post("/oidc/token", {
      grant_type: "authorization_code",
      code: await provider.newCode(),
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      ...fields,
    }, headers);
  };
  await t.step("accepts a form-encoded secret in the header", async () => {
    assertEquals((await send({}, basic("app", SECRET))).status, 200);
  });
  const own = basic("app", SECRET);
  const refused = [
    [
      "a method that the client is not registered for",
      {
        client_id: "app",
        client_secret: SECRET,
      },
      {},
      [401, "invalid_client"],
    ],
    ["two methods in one request", { client_secret: SECRET }, own, [
      400,
      "invalid_request",
    ]],
    ["two client ids", { client_id: "other" }, own, [400, "invalid_request"]],
  ] as const;
  for (const [attack, fields, headers, expected] of refused) {
    await t.step(`rejects ${attack}`, async () => {
      assertRefused(await send({ ...fields }, { ...headers }), expected);
    });
  }
  const invalid = [
    basic("app", "x"),
    { authorization: "Basic %%%" },
    { authorization: "Basic YXBw" },
    { authorization: `Bearer ${SECRET}` },
  ];
  for (const headers of invalid) {
    await t.step(
      `the response to ${headers.authorization} contains the scheme`,
      async () => {
        const answer = await send({}, headers);
        assertRefused(answer, [401, "invalid_client"]);
        assertEquals(
          answer.headers.get("www-authenticate"),
          'Basic realm="sig-web"',
        );
      },
    );
  }
});

Deno.test("an assertion must be for this provider, signed by its client, short-lived and unused", async (t) => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", {
    extractable: true,
  });
  const jwk = { ...await exportJWK(publicKey), alg: "ES256", kid: "k" };
  await using provider = await TestProvider.start({
    clients: [
      { client_id: "app", jwks: { keys: [jwk] }, redirect_uris: [CALLBACK] },
      {
        client_id: "other",
        jwks: { keys: [{ ...jwk, kid: "k" }] },
        redirect_uris: [CALLBACK],
      },
    ],
  });
  const foreign = (await generateKeyPair("ES256")).privateKey;
  const nowSeconds = Math.floor(Date.now() / 1000);
  const assertion = (
    changes: Record<string, unknown> = {},
    key: Parameters<SignJWT["sign"]>[0] = privateKey,
    alg = "ES256",
  ) =>
    new SignJWT({
      iss: "app",
      sub: "app",
      aud: provider.origin,
      jti: crypto.randomUUID(),
      exp: nowSeconds + 60,
      ...changes,
    }).setProtectedHeader({ alg, kid: "k" }).sign(key);
  const redeem = async (
    client_assertion: string,
    changes: Record<string, string> = {},
  ) => {
    return await provider.post("/oidc/token", {
      grant_type: "authorization_code",
      code: await provider.newCode(),
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      client_assertion_type:
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion,
      ...changes,
    });
  };
  const secret = await importJWK({
    kty: "oct",
    k: btoa(JSON.stringify(jwk)).replace(/[+/=]/g, ""),
  }, "HS256");
  const attacks: Record<string, () => Promise<string>> = {
    "of another key": () => assertion({}, foreign),
    "for another server": () => assertion({ aud: "https://x.example" }),
    "that is over": () => assertion({ exp: nowSeconds - 60 }),
    "that never ends": () => assertion({ exp: nowSeconds + 90_000 }),
    "without exp": () => assertion({ exp: undefined }),
    "without jti": () => assertion({ jti: undefined }),
    "with an empty jti": () => assertion({ jti: "" }),
    "for several servers": () =>
      assertion({ aud: [provider.origin, "https://x.example"] }),
    "for us alone, in a list": () => assertion({ aud: [provider.origin] }),
    "of another issuer": () => assertion({ iss: "other" }),
    "of an unknown client": () => assertion({ iss: "x", sub: "x" }),
    "by the public key as a secret": () => assertion({}, secret, "HS256"),
    "that nobody signed": () =>
      Promise.resolve(
        `${btoa('{"alg":"none"}')}.${
          btoa(`{"iss":"app","sub":"app","aud":"${provider.origin}"}`)
        }.`.replaceAll("=", ""),
      ),
  };
  for (const [attack, make] of Object.entries(attacks)) {
    await t.step(attack, async () => {
      assertRefused(await redeem(await make()), [401, "invalid_client"]);
    });
  }
  await t.step("with another client's id", async () => {
    const answer = await redeem(await assertion(), { client_id: "other" });
    assertRefused(answer, [401, "invalid_client"]);
  });
  await t.step("of another type", async () => {
    const changes = { client_assertion_type: "x" };
    const answer = await redeem(await assertion(), changes);
    assertRefused(answer, [400, "invalid_request"]);
  });
  await t.step("used twice", async () => {
    const once = await assertion();
    assertEquals((await redeem(once)).status, 200);
    assertRefused(await redeem(once), [401, "invalid_client"]);
  });
  await t.step(
    "as many as a client may have do not affect others",
    async () => {
      const at = provider.now();
      const kind = assertionKind("app");
      const record = { text: "true", expiresAtMs: at.getTime() + 60_000 };
      for (let i = 0; i < kind.maxRecords!; i++) {
        await provider.store.put(kind, `${i}`, record, null, at).catch(
          () => {},
        );
      }
      assertRefused(await redeem(await assertion()), [
        503,
        "temporarily_unavailable",
      ]);
      const { client_id, redirect_uri } = OTHER;
      const own = await assertion({ iss: client_id, sub: client_id });
      const code = await provider.newCode();
      const answer = await redeem(own, { code, redirect_uri });
      assertRefused(answer, [400, "invalid_grant"]);
    },
  );
});
