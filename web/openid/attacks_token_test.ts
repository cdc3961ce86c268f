import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Answer } from "../testdata/answer.ts";
import {
  assertRefused,
  SECRET,
  sha256,
  TestProvider,
  VERIFIER,
} from "./testdata/test_provider.ts";

// promise: A code or refresh token is used once; a second use revokes its
//   tokens.

const INVALID_GRANT = [400, "invalid_grant"] as const;
const INVALID_REQUEST = [400, "invalid_request"] as const;
const INVALID_CLIENT = [401, "invalid_client"] as const;
const INVALID_TOKEN = [401, "invalid_token"] as const;

const CODE: readonly (readonly [
  attack: string,
  changes: Record<string, string>,
  expected: readonly [number, string],
])[] = [
  ["another verifier", { code_verifier: "x".repeat(43) }, INVALID_GRANT],
  ["no code", { code: "" }, INVALID_REQUEST],
  ["no verifier", { code_verifier: "" }, INVALID_REQUEST],
  ["a short verifier", { code_verifier: "short" }, INVALID_GRANT],
  ["the challenge as the verifier", {
    code_verifier: await sha256(VERIFIER),
  }, INVALID_GRANT],
  ["another redirect_uri of the client", {
    redirect_uri: "https://app.example/cb?tenant=1",
  }, INVALID_GRANT],
  ["no redirect_uri", { redirect_uri: "" }, INVALID_REQUEST],
  ["another client's name", { client_id: "other" }, INVALID_GRANT],
  ["a public client's name", {
    client_id: "spa",
    client_secret: "",
  }, INVALID_GRANT],
  ["a wrong secret", { client_secret: `${SECRET}x` }, INVALID_CLIENT],
  ["no secret", { client_secret: "" }, INVALID_CLIENT],
  ["the digest as the secret", {
    client_secret: await sha256(SECRET),
  }, INVALID_CLIENT],
  ["an unknown client", { client_id: "nobody" }, INVALID_CLIENT],
  ["a password", { grant_type: "password" }, [400, "unsupported_grant_type"]],
  ["the client's own credentials", {
    grant_type: "client_credentials",
  }, [400, "unsupported_grant_type"]],
  ["no grant_type", { grant_type: "" }, INVALID_REQUEST],
  ["the code as a refresh token", {
    grant_type: "refresh_token",
    refresh_token: "$CODE",
  }, INVALID_GRANT],
  ["another code", {
    code: `${"A".repeat(22)}.${"A".repeat(43)}`,
  }, INVALID_GRANT],
  ["a code of another shape", { code: "../../x" }, INVALID_GRANT],
];

Deno.test("a code is only valid for its client, with the client's credentials and the verifier", async (t) => {
  await using provider = await TestProvider.start();
  for (const [attack, changes, expected] of CODE) {
    await t.step(attack, async () => {
      const code = await provider.newCode();
      const sent = Object.fromEntries(
        Object.entries(changes).map(([name, value]) => [
          name,
          value.replace("$CODE", code),
        ]),
      );
      assertRefused(await provider.redeem(code, sent), expected);
      // The attempt has not invalidated the code.
      assertEquals((await provider.redeem(code)).status, 200);
    });
  }
  await t.step("rejects a duplicate field", async () => {
    const code = await provider.newCode();
    const answer = await provider.post(
      "/oidc/token",
      `grant_type=authorization_code&code=${code}&code=${code}`,
    );
    assertRefused(answer, INVALID_REQUEST);
  });
  await t.step("rejects JSON and GET", async () => {
    const json = await provider.post("/oidc/token", "{}", {
      "content-type": "application/json",
    });
    assertRefused(json, INVALID_REQUEST);
    const get = await fetch(`${provider.origin}/oidc/token`);
    await get.body?.cancel();
    assertEquals(get.status, 405);
  });
  await t.step("rejects a code after a minute", async () => {
    provider.frozenMs = Date.now();
    const [code, later] = [await provider.newCode(), await provider.newCode()];
    provider.skewMs = 59_999;
    assertEquals((await provider.redeem(code)).status, 200);
    provider.skewMs = 60_000;
    assertRefused(await provider.redeem(later), INVALID_GRANT);
  });
});

Deno.test("a second use of a code revokes all of its tokens", async () => {
  await using provider = await TestProvider.start();
  const code = await provider.newCode();
  const { body } = await provider.redeem(code);
  assertEquals((await provider.userinfo(body.access_token)).status, 200);
  // The issuer is not needed for that.
  provider.issuerIsDown = true;
  const again = await provider.redeem(code);
  assertRefused(again, INVALID_GRANT);
  assertStringIncludes(again.body.error_description, "used before");
  assertEquals((await provider.userinfo(body.access_token)).status, 401);
  assertRefused(await provider.refresh(body.refresh_token), INVALID_GRANT);
});

Deno.test("refresh tokens rotate, and reuse of an old one revokes the family", async () => {
  await using provider = await TestProvider.start();
  const code = await provider.newCode();
  const first = (await provider.redeem(code)).body;
  const second = (await provider.refresh(first.refresh_token)).body;
  assert(second.refresh_token !== first.refresh_token);
  const third = (await provider.refresh(second.refresh_token)).body;
  assertRefused(await provider.refresh(first.refresh_token), INVALID_GRANT);
  assertRefused(await provider.refresh(third.refresh_token), INVALID_GRANT);
  assertEquals((await provider.userinfo(third.access_token)).status, 401);
});

Deno.test("a refresh token is only valid for its client, its scope and refreshing", async (t) => {
  await using provider = await TestProvider.start();
  const code = await provider.newCode();
  const { refresh_token, access_token, id_token } =
    (await provider.redeem(code)).body;
  const cases: readonly (readonly [
    string,
    () => Promise<Answer>,
    readonly [number, string],
  ])[] = [
    [
      "another client",
      () => provider.refresh(refresh_token, { client_id: "other" }),
      INVALID_GRANT,
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
    [
      "as an access token",
      () => provider.userinfo(refresh_token),
      INVALID_TOKEN,
    ],
    [
      "an ID token as an access token",
      () => provider.userinfo(id_token),
      INVALID_TOKEN,
    ],
  ];
  for (const [attack, attempt, expected] of cases) {
    await t.step(attack, async () => assertRefused(await attempt(), expected));
  }
  await t.step("rejects an access token in the address", async () => {
    const url = `${provider.origin}/oidc/userinfo?access_token=${access_token}`;
    const response = await fetch(url);
    assertEquals(response.status, 401);
    assertEquals((await response.json()).error, "invalid_token");
  });
  await t.step("the attempts have not invalidated the tokens", async () => {
    assertEquals((await provider.userinfo(access_token)).status, 200);
    assertEquals((await provider.refresh(refresh_token)).status, 200);
  });
  await t.step("an access token expires after five minutes", async () => {
    provider.skewMs += 300_000;
    assertRefused(await provider.userinfo(access_token), INVALID_TOKEN);
  });
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
    INVALID_CLIENT,
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
