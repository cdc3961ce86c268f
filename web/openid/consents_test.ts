import { assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { Receiver } from "./testdata/fleet.ts";
import { Browser, OTHER, TestProvider } from "./testdata/test_provider.ts";

// promise: Each application asks the person once, and repeating gives no
//   refused scope.

/** Fetches the list of consents. */
async function consents({ origin }: TestProvider, browser: Browser) {
  const { status, body } = await browser.ask(`${origin}/oidc/consents`);
  assertEquals(status, 200);
  return body;
}

function revoke(
  { origin }: TestProvider,
  browser: Browser,
  client_id: string,
  headers: Record<string, string> = {},
) {
  return browser.ask(`${origin}/oidc/consents/revoke`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ client_id }),
  });
}

Deno.test("the first login at each application asks for consent, later logins do not", async () => {
  await using provider = await TestProvider.start();
  provider.frozenMs = Date.parse("2026-01-31T09:00:00Z");
  const { person, browser } = await provider.employ();
  assertEquals(await consents(provider, browser), {
    subject: null,
    consents: [],
  });
  const { id_token } = await browser.tokens(provider, person);
  assertEquals(await browser.silentError(provider, OTHER), "consent_required");
  const code = await browser.signInForCode(provider, person, OTHER);
  const { body } = await provider.redeem(code, OTHER);
  assertEquals(decodeJwt(body.id_token).sid, decodeJwt(id_token).sid);
  assertEquals(await browser.silentError(provider, OTHER), null);
  const scopes = ["groups", "openid", "profile"];
  const since = "2026-01-31T09:00:00.000Z";
  assertEquals(await consents(provider, browser), {
    subject: person.did,
    consents: [
      { client_id: "app", client_name: "The App", scopes, since },
      { client_id: "other", client_name: "other", scopes, since },
    ],
  });
  // Additional scopes need another consent.
  const more = await provider.authorizeUrl({
    ...OTHER,
    scope: "openid offline_access",
  });
  await browser.begin(more);
});

Deno.test("revoking a consent invalidates the application's tokens, and its next login asks again", async () => {
  await using receiver = new Receiver();
  await using provider = await TestProvider.start({ receiver });
  // With a frozen clock, old tokens must stay invalid even in the same
  // millisecond.
  provider.frozenMs = Date.now();
  const { person, browser, ...tokens } = await provider.logIn();
  const { body: others } = await provider.redeem(
    await browser.signInForCode(provider, person, OTHER),
    OTHER,
  );
  const unused = await browser.codeAt(await provider.authorizeUrl());
  const refused = await revoke(provider, browser, "app", {
    "sec-fetch-site": "same-site",
  });
  assertEquals([refused.status, refused.body.code], [
    403,
    "origin_not_allowed",
  ]);
  for (
    const [visitor, id] of [[browser, "ops"], [new Browser(), "app"]] as const
  ) {
    const { status, body } = await revoke(provider, visitor, id);
    assertEquals([status, body.code], [404, "not_found"]);
  }
  const { status, body } = await revoke(provider, browser, "app");
  assertEquals(status, 200);
  assertEquals(
    body.consents.map(({ client_id }: { client_id: string }) => client_id),
    ["other"],
  );
  await receiver.heard(1);
  assertEquals(await browser.silentError(provider), "consent_required");
  await browser.signIn(provider, person, await provider.authorizeUrl());
  assertEquals((await provider.refresh(tokens.refresh_token)).status, 400);
  assertEquals((await provider.userinfo(tokens.access_token)).status, 401);
  assertEquals((await provider.redeem(unused)).body.error, "invalid_grant");
  assertEquals((await provider.userinfo(others.access_token)).status, 200);
});
