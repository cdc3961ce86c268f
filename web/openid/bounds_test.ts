import type { RecordKind } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { MAX_GRANTS, MAX_SESSIONS } from "../sessions/sessions.ts";
import { GRANT, SESSION } from "../store/kinds.ts";
import {
  assertRefused,
  Browser,
  CALLBACK,
  OTHER,
  TestProvider,
  VERIFIER,
} from "./testdata/test_provider.ts";

// promise: A person has at most 50 sessions on each server.

async function countOf(
  { store, now }: TestProvider,
  kind: RecordKind,
): Promise<number> {
  return (await store.list(kind, now())).records.length;
}

Deno.test("an application has a limited number of grants in a session, and only its own oldest is revoked", async () => {
  await using provider = await TestProvider.start();
  const { person, browser, ...first } = await provider.logIn();
  const { body: others } = await provider.redeem(
    await browser.signInForCode(provider, person, OTHER),
    OTHER,
  );
  const url = await provider.authorizeUrl({ prompt: "none" });
  for (let i = 0; i < MAX_GRANTS - 1; i++) await browser.follow(url);
  const next = await provider.refresh(first.refresh_token);
  assertEquals(next.status, 200);

  const last = await browser.codeAt(url);
  assertRefused(await provider.refresh(next.body.refresh_token), [
    400,
    "invalid_grant",
  ]);
  assertEquals((await provider.userinfo(next.body.access_token)).status, 401);
  assertEquals((await provider.redeem(last)).status, 200);
  assertEquals(
    (await provider.refresh(others.refresh_token, OTHER)).status,
    200,
  );
  // Codes that are never redeemed count too.
  for (let i = 0; i < 3 * MAX_GRANTS; i++) await browser.follow(url);
  assertEquals(await countOf(provider, GRANT), MAX_GRANTS + 1);
});

Deno.test("a person has a limited number of sessions: the oldest ends with a logout token, others continue", async () => {
  const notified: string[] = [];
  await using provider = await TestProvider.start({
    clients: [{
      client_id: "app",
      redirect_uris: [CALLBACK],
      backchannel_logout_uri: "https://app.example/logout",
      token_endpoint_auth_method: "none",
      refresh: true,
    }],
    settings: {
      fetch: async (request) => {
        const form = new URLSearchParams(await request.text());
        notified.push(
          decodeJwt<{ sid: string }>(form.get("logout_token")!).sid,
        );
        return new Response();
      },
    },
  });
  const { person } = await provider.employ();
  const { person: bob } = await provider.employ();
  const bobs = new Browser();
  const url = await provider.authorizeUrl();
  await bobs.signIn(provider, bob, url);
  const browsers = [];
  for (let i = 0; i < MAX_SESSIONS; i++) {
    const browser = new Browser();
    browsers.push(browser);
    await browser.signIn(provider, person, url);
  }
  const isIn = async (browser: Browser) =>
    await browser.silentError(provider) === null;
  const [oldest, second, third] = browsers;
  assert(await isIn(oldest!));
  // After a new login in the same browser, its session is no longer the oldest.
  await second!.signIn(
    provider,
    person,
    await provider.authorizeUrl({ prompt: "login" }),
  );
  assertEquals(await countOf(provider, SESSION), MAX_SESSIONS + 1);

  const grants = await countOf(provider, GRANT);
  await new Browser().signIn(provider, person, url);
  assertEquals(await isIn(oldest!), false);
  await new Browser().signIn(provider, person, url);
  assertEquals(await isIn(third!), false);
  assert(await isIn(second!));
  assert(await isIn(bobs));
  assertEquals(await countOf(provider, SESSION), MAX_SESSIONS + 1);
  await provider.web.provider!.deliver();
  assertEquals(notified.length, 2);
  // Two grants of the oldest session and one of the third are gone. The two new
  // logins and the two checks of continuing sessions added one each.
  assertEquals(await countOf(provider, GRANT), grants - 3 + 4);
});

Deno.test("repeated logins and logouts leave no records", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const steady = new Browser();
  await steady.tokens(provider, person);
  const { origin } = provider;
  for (let i = 0; i < MAX_SESSIONS + 5; i++) {
    const browser = new Browser();
    const { id_token } = await browser.tokens(provider, person);
    const response = await browser.send(
      `${origin}/oidc/logout?id_token_hint=${id_token}`,
    );
    await response.body?.cancel();
  }
  assertEquals(await countOf(provider, SESSION), 1);
  assertEquals(await countOf(provider, GRANT), 1);
  assertEquals(await steady.silentError(provider), null);
});

Deno.test("a grant without a refresh token is removed together with its code", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const redirect_uri = "https://spa.example/callback";
  const spa = { client_id: "spa", redirect_uri };
  const code = await new Browser().signInForCode(provider, person, spa);
  const redeem = () =>
    provider.post("/oidc/token", {
      ...{ grant_type: "authorization_code", ...spa },
      ...{ code, code_verifier: VERIFIER },
    });
  const { access_token } = (await redeem()).body;
  provider.skewMs = 290_000;
  assertEquals((await provider.userinfo(access_token)).status, 200);
  provider.skewMs = 310_000;
  assertEquals((await provider.userinfo(access_token)).status, 401);
  assertEquals(await countOf(provider, GRANT), 1);
  provider.skewMs = 601_000;
  assertEquals(await countOf(provider, GRANT), 0);
  assertRefused(await redeem(), [400, "invalid_grant"]);
});
