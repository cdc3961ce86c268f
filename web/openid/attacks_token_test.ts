import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import {
  Browser,
  CALLBACK,
  type Posted,
  SECRET,
  sha256,
  TestProvider,
  usualClients,
  VERIFIER,
} from "./testdata/test_provider.ts";

async function newCode(
  provider: TestProvider,
  changes: Record<string, string> = {},
): Promise<{ code: string; browser: Browser; relationship: string }> {
  const { person, relationship } = await provider.employ();
  const browser = new Browser();
  const url = await provider.authorizeUrl(changes);
  const back = await browser.signIn(provider, person, url);
  assertEquals(back.searchParams.get("iss"), provider.origin);
  return { code: back.searchParams.get("code")!, browser, relationship };
}

function assertRefused(
  { status, body, headers }: Posted,
  expected: readonly [status: number, error: string],
): void {
  assertEquals([status, body.error], expected);
  assertEquals(headers.get("cache-control"), "no-store");
  assert(!JSON.stringify(body).includes("access_token"));
}

function basic(id: string, secret: string): Record<string, string> {
  const form = (text: string) =>
    encodeURIComponent(text).replaceAll("%20", "+");
  const bytes = new TextEncoder().encode(`${form(id)}:${form(secret)}`);
  return { authorization: `Basic ${btoa(String.fromCharCode(...bytes))}` };
}

const CODE: readonly (readonly [
  attack: string,
  changes: Record<string, string>,
  expected: readonly [number, string],
])[] = [
  ["another verifier", { code_verifier: "x".repeat(43) }, [
    400,
    "invalid_grant",
  ]],
  ["no verifier", { code_verifier: "" }, [400, "invalid_request"]],
  ["a short verifier", { code_verifier: "short" }, [400, "invalid_grant"]],
  ["the challenge as the verifier", {
    code_verifier: await sha256(VERIFIER),
  }, [400, "invalid_grant"]],
  ["another redirect_uri of the client", {
    redirect_uri: "https://app.example/cb?tenant=1",
  }, [400, "invalid_grant"]],
  ["no redirect_uri", { redirect_uri: "" }, [400, "invalid_request"]],
  ["another client's name", { client_id: "other" }, [400, "invalid_grant"]],
  ["a public client's name", {
    client_id: "spa",
    client_secret: "",
  }, [400, "invalid_grant"]],
  ["a wrong secret", { client_secret: `${SECRET}x` }, [401, "invalid_client"]],
  ["no secret", { client_secret: "" }, [401, "invalid_client"]],
  ["the digest as the secret", {
    client_secret: await sha256(SECRET),
  }, [401, "invalid_client"]],
  ["an unknown client", { client_id: "nobody" }, [401, "invalid_client"]],
  ["a password", { grant_type: "password" }, [400, "unsupported_grant_type"]],
  ["the client's own credentials", {
    grant_type: "client_credentials",
  }, [400, "unsupported_grant_type"]],
  ["no grant_type", { grant_type: "" }, [400, "invalid_request"]],
  ["the code as a refresh token", {
    grant_type: "refresh_token",
    refresh_token: "$CODE",
  }, [400, "invalid_grant"]],
  ["another code", {
    code: `${"A".repeat(22)}.${"A".repeat(43)}`,
  }, [400, "invalid_grant"]],
  ["a code of another shape", { code: "../../x" }, [400, "invalid_grant"]],
];

Deno.test("a code is good for who asked for it, with the verifier, in the client's hands", async (t) => {
  await using provider = await TestProvider.start();
  for (const [attack, changes, expected] of CODE) {
    await t.step(attack, async () => {
      const { code } = await newCode(provider);
      const sent = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [
          name,
          value.replace("$CODE", code),
        ]),
      );
      assertRefused(await provider.redeem(code, sent), expected);
      // The attempt alone did not spoil it, but for the one that used it as
      // what it is not.
      if (sent.refresh_token !== undefined) return;
      assertEquals((await provider.redeem(code)).status, 200);
    });
  }
  await t.step("a field twice", async () => {
    const { code } = await newCode(provider);
    const answer = await provider.post(
      "/oidc/token",
      `grant_type=authorization_code&code=${code}&code=${code}`,
    );
    assertRefused(answer, [400, "invalid_request"]);
  });
  await t.step("JSON, and a GET", async () => {
    const json = await provider.post("/oidc/token", "{}", {
      "content-type": "application/json",
    });
    assertRefused(json, [400, "invalid_request"]);
    const get = await fetch(`${provider.origin}/oidc/token`);
    await get.body?.cancel();
    assertEquals(get.status, 405);
  });
  await t.step("a body without end", async () => {
    const answer = await provider.post("/oidc/token", "a".repeat(20_000));
    assert(answer.status >= 400 && answer.body.error !== undefined);
  });
  await t.step("a minute later", async () => {
    const { code } = await newCode(provider);
    provider.skewMs += 60_000;
    assertRefused(await provider.redeem(code), [400, "invalid_grant"]);
  });
});

Deno.test("a code that comes twice ends all that it gave", async () => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
  const { body } = await provider.redeem(code);
  assertEquals((await provider.userinfo(body.access_token)).status, 200);
  const again = await provider.redeem(code);
  assertRefused(again, [400, "invalid_grant"]);
  assertStringIncludes(again.body.error_description, "used before");
  assertEquals((await provider.userinfo(body.access_token)).status, 401);
  assertRefused(await provider.refresh(body.refresh_token), [
    400,
    "invalid_grant",
  ]);
});

Deno.test("of 8 parallel uses of a code one wins at most, and its tokens are dead", async () => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => provider.redeem(code)),
  );
  const won = answers.filter(({ status }) => status === 200);
  assertEquals(won.length, 1);
  const { access_token, refresh_token } = won[0]!.body;
  assertEquals((await provider.userinfo(access_token)).status, 401);
  assertEquals((await provider.refresh(refresh_token)).status, 400);
});

Deno.test("refresh tokens rotate, and an old one ends the family", async () => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
  const first = (await provider.redeem(code)).body;
  const second = (await provider.refresh(first.refresh_token)).body;
  assert(second.refresh_token !== first.refresh_token);
  const third = (await provider.refresh(second.refresh_token)).body;
  assertRefused(await provider.refresh(first.refresh_token), [
    400,
    "invalid_grant",
  ]);
  assertRefused(await provider.refresh(third.refresh_token), [
    400,
    "invalid_grant",
  ]);
  assertEquals((await provider.userinfo(third.access_token)).status, 401);
});

Deno.test("of 8 parallel refreshes exactly one wins", async () => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
  const { refresh_token } = (await provider.redeem(code)).body;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => provider.refresh(refresh_token)),
  );
  assertEquals(answers.filter(({ status }) => status === 200).length, 1);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    assertRefused(answer, [400, "invalid_grant"]);
  }
});

Deno.test("a refresh token is its client's, for what was granted, and nothing else's", async (t) => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
  const { refresh_token, access_token, id_token } =
    (await provider.redeem(code)).body;
  const cases: readonly (readonly [
    string,
    () => Promise<Posted>,
    readonly [number, string],
  ])[] = [
    [
      "another client",
      () => provider.refresh(refresh_token, { client_id: "other" }),
      [
        400,
        "invalid_grant",
      ],
    ],
    [
      "a client that may not refresh",
      () =>
        provider.refresh(refresh_token, {
          client_id: "spa",
          client_secret: "",
        }),
      [
        400,
        "unauthorized_client",
      ],
    ],
    [
      "more than was granted",
      () => provider.refresh(refresh_token, { scope: "openid offline_access" }),
      [
        400,
        "invalid_scope",
      ],
    ],
    ["as an access token", () => provider.userinfo(refresh_token), [
      401,
      "invalid_token",
    ]],
    ["an ID token as an access token", () => provider.userinfo(id_token), [
      401,
      "invalid_token",
    ]],
  ];
  for (const [attack, attempt, expected] of cases) {
    await t.step(attack, async () => assertRefused(await attempt(), expected));
  }
  await t.step("an access token in the address", async () => {
    const url = `${provider.origin}/oidc/userinfo?access_token=${access_token}`;
    const response = await fetch(url);
    assertEquals(response.status, 401);
    assertEquals((await response.json()).error, "invalid_token");
  });
  await t.step("all of that changed nothing", async () => {
    assertEquals((await provider.userinfo(access_token)).status, 200);
    assertEquals((await provider.refresh(refresh_token)).status, 200);
  });
  await t.step("five minutes later an access token is over", async () => {
    provider.skewMs += 300_000;
    assertRefused(await provider.userinfo(access_token), [
      401,
      "invalid_token",
    ]);
  });
});

Deno.test("a secret comes by header or form, decoded, by one of them", async (t) => {
  const clients = await usualClients();
  clients[0]!.token_endpoint_auth_method = "client_secret_basic";
  await using provider = await TestProvider.start({ clients });
  const send = async (
    fields: Record<string, string>,
    headers: Record<string, string>,
  ) => {
    const { code } = await newCode(provider);
    return await provider.post("/oidc/token", {
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      ...fields,
    }, headers);
  };
  await t.step("form-encoded in the header", async () => {
    assertEquals((await send({}, basic("app", SECRET))).status, 200);
  });
  await t.step("a method that is not the client's", async () => {
    const fields = { client_id: "app", client_secret: SECRET };
    assertRefused(await send(fields, {}), [401, "invalid_client"]);
  });
  await t.step("two ways at once", async () => {
    const answer = await send({ client_secret: SECRET }, basic("app", SECRET));
    assertRefused(answer, [400, "invalid_request"]);
  });
  await t.step("two names", async () => {
    const answer = await send({ client_id: "other" }, basic("app", SECRET));
    assertRefused(answer, [400, "invalid_request"]);
  });
  await t.step("a wrong header says which scheme", async () => {
    for (
      const headers of [
        basic("app", "x"),
        { authorization: "Basic %%%" },
        { authorization: "Basic YXBw" },
        { authorization: `Bearer ${SECRET}` },
      ]
    ) {
      const answer = await send({}, headers);
      assertRefused(answer, [401, "invalid_client"]);
      assertEquals(
        answer.headers.get("www-authenticate"),
        'Basic realm="sig-web"',
      );
    }
  });
});

Deno.test("an assertion is for us, by its client, young, and good once", async (t) => {
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
  const redeem = async (client_assertion: string) => {
    const { code } = await newCode(provider);
    return await provider.post("/oidc/token", {
      grant_type: "authorization_code",
      code,
      redirect_uri: CALLBACK,
      code_verifier: VERIFIER,
      client_assertion_type:
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion,
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
  await t.step("twice", async () => {
    const once = await assertion();
    assertEquals((await redeem(once)).status, 200);
    assertRefused(await redeem(once), [401, "invalid_client"]);
  });
});

Deno.test("a token is revoked by its client, and by no other", async () => {
  await using provider = await TestProvider.start();
  const { code } = await newCode(provider);
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
  assertRefused(await revoke(refresh_token, { client_secret: "x" }), [
    401,
    "invalid_client",
  ]);
  assertEquals((await revoke("unknown")).status, 200);
  assertEquals((await provider.userinfo(access_token)).status, 200);
  assertEquals((await revoke(access_token)).status, 200);
  assertEquals((await provider.userinfo(access_token)).status, 401);
  const next = (await provider.refresh(refresh_token)).body;
  assertEquals((await revoke(next.refresh_token)).status, 200);
  assertEquals((await provider.userinfo(next.access_token)).status, 401);
});
