import { openStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { Visitor } from "../gate/testdata/visitor.ts";
import { Receiver } from "./testdata/fleet.ts";
import {
  assertRefused,
  Browser,
  clientsWithLogout,
  OTHER,
  REFUSED,
  TestProvider,
} from "./testdata/test_provider.ts";
import {
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { waitUntil } from "../../tests/kit/wait.ts";

// promise: A denied person loses tokens and session; an unreachable issuer
//   extends nothing beyond `--grace`.

Deno.test("a revocation ends the session at the next refresh or userinfo request", async () => {
  await using provider = await TestProvider.start();
  const { person, relationship } = await provider.employ();
  for (const end of ["refresh", "userinfo"] as const) {
    const again = await provider.demo.enrol(person.did);
    const browser = new Browser();
    const { access_token, refresh_token } = await browser.tokens(
      provider,
      person,
    );
    if (end === "refresh") await provider.demo.revoke(relationship);
    await provider.demo.revoke(again.relationship_id);
    if (end === "refresh") {
      assertRefused(await provider.refresh(refresh_token), REFUSED.grant);
    } else assertRefused(await provider.userinfo(access_token), REFUSED.token);
    // A new relationship does not restore the ended session.
    const back = await provider.demo.enrol(person.did);
    assertEquals((await provider.refresh(refresh_token)).status, 400);
    assertEquals(await browser.silentError(provider), "login_required");
    await provider.demo.revoke(back.relationship_id);
  }
});

Deno.test("issues no token after a revocation between code and token", async () => {
  await using provider = await TestProvider.start();
  const { person, relationship } = await provider.employ();
  const code = await new Browser().signInForCode(provider, person);
  await provider.demo.revoke(relationship);
  const answer = await provider.redeem(code);
  assertRefused(answer, REFUSED.grant);
  assertEquals(
    answer.body.error_description,
    "the issuer no longer confirms the relationship",
  );
});

Deno.test("an unreachable issuer neither ends sessions nor allows new tokens", async () => {
  await using provider = await TestProvider.start();
  const { person, browser, access_token, refresh_token } = await provider
    .logIn();
  const code = await browser.codeAt(await provider.authorizeUrl());
  provider.issuerIsDown = true;
  const refused = [
    await provider.refresh(refresh_token),
    await provider.redeem(code),
  ];
  for (const answer of refused) {
    assertRefused(answer, [503, "temporarily_unavailable"]);
    assertEquals(answer.headers.get("retry-after"), "5");
  }
  // Userinfo still responds.
  const info = await provider.userinfo(access_token);
  assertEquals([info.status, info.body.sub], [200, person.did]);
  // The error goes to a page, or with prompt=none to the application.
  const page = await browser.ask(await provider.authorizeUrl());
  assertEquals([page.status, page.headers.get("location")], [503, null]);
  assertEquals(await browser.silentError(provider), "temporarily_unavailable");
  const report = await provider.watch();
  assertEquals(report, { looked: 1, unanswered: 1 });
  provider.issuerIsDown = false;
  // The same token and code are still valid.
  assertEquals((await provider.refresh(refresh_token)).status, 200);
  assertEquals((await provider.redeem(code)).status, 200);
});

Deno.test("while the issuer fails, userinfo and forward auth respond for the grace period, then with 503", async () => {
  const host = "wiki.example";
  await using provider = await TestProvider.start({
    settings: { gateHosts: [host], graceMs: 60_000, gateMaxAgeMs: 0 },
  });
  const { visitor, person } = await Visitor.logIn(provider, `http://${host}/`);
  const { access_token } = await new Browser().tokens(provider, person);
  provider.issuerIsDown = true;
  const statuses = async () => [
    (await provider.userinfo(access_token)).status,
    (await visitor.ask(host)).status,
  ];
  provider.skewMs = 58_000;
  assertEquals(await statuses(), [200, 200]);
  provider.skewMs = 66_000;
  assertEquals(await statuses(), [503, 503]);
  const { body, headers } = await visitor.at(host).ask(
    `${provider.origin}/forward-auth`,
    { headers: { "x-forwarded-host": host } },
  );
  assertEquals([body.status, body.code], [503, "fetch_status"]);
  assertEquals(headers.get("retry-after"), "5");
  provider.issuerIsDown = false;
  provider.skewMs = 76_000;
  assertEquals(await statuses(), [200, 200]);
});

Deno.test("the watch ends revoked sessions and sends logout tokens that conform to the specification", async () => {
  await using receiver = new Receiver();
  await using provider = await TestProvider.start({ receiver });
  const { person, relationship, ...gone } = await provider.logIn();
  const stays = await provider.logIn();
  assertEquals(await provider.watch(), { looked: 2, unanswered: 0 });
  assertEquals(await provider.deliver(), 0);
  await provider.demo.revoke(relationship);
  await provider.watch();
  assertEquals(await provider.deliver(), 1);
  const [token = ""] = receiver.delivered;
  const jwks = await (await fetch(`${provider.origin}/oidc/jwks`)).json();
  const { payload, protectedHeader } = await jwtVerify(
    token,
    createLocalJWKSet(jwks),
    { issuer: provider.origin, audience: "app", typ: "logout+jwt" },
  );
  assertEquals(protectedHeader.alg, "RS256");
  assertEquals(payload.sub, person.did);
  assertEquals(payload.events, {
    "http://schemas.openid.net/event/backchannel-logout": {},
  });
  assert(typeof payload.sid === "string" && typeof payload.jti === "string");
  assertEquals(payload.nonce, undefined);
  assertEquals((await provider.refresh(gone.refresh_token)).status, 400);
  assertEquals((await provider.refresh(stays.refresh_token)).status, 200);
  // The application is notified once.
  await provider.watch();
  assertEquals(await provider.deliver(), 0);
});

Deno.test("a requirement of one application does not affect the others in the session", async () => {
  await using provider = await TestProvider.start();
  const { person, browser } = await provider.logIn();
  // The person lacks the role ops, so the login at this application is denied.
  const redirect_uri = "https://ops.example/callback";
  const ops = { client_id: "ops", redirect_uri };
  assertEquals(await browser.silentError(provider, ops), "consent_required");
  const url = await provider.authorizeUrl(ops);
  const { challenge, send } = await browser.sign(provider, person, url);
  assertEquals(
    (challenge as unknown as { require: string[] }).require,
    ["relationship=employee", "role=ops"],
  );
  assertEquals((await send()).body.code, "relationship_denied");
  // The other application is not affected.
  assertEquals(await browser.silentError(provider), null);
});

Deno.test("a logout by the person notifies every application of the session", async () => {
  await using receiver = new Receiver();
  const clients = await clientsWithLogout(receiver.uri);
  Object.assign(clients[1]!, { backchannel_logout_uri: receiver.uri });
  await using provider = await TestProvider.start({ clients });
  const { person, browser, id_token } = await provider.logIn();
  await browser.signInForCode(provider, person, OTHER);
  const url = `${provider.origin}/oidc/logout?id_token_hint=${id_token}`;
  assertEquals((await browser.ask(url)).status, 200);
  // The tokens are sent immediately, without a run of the background work.
  await waitUntil(
    "both tokens have arrived",
    () => receiver.delivered.length === 2,
  );
  const received = receiver.delivered.map((token) => decodeJwt(token).aud);
  assertEquals(received.sort(), ["app", "other"]);
});

Deno.test({
  name:
    "while Redis hangs nothing is issued or lost, and the same token is valid afterwards",
  ignore: !HAS_REDIS,
  async fn() {
    await using redis = await startRedis();
    const store = await openStore(redis.url);
    try {
      await using provider = await TestProvider.start({ store });
      const { browser, access_token, refresh_token } = await provider.logIn();
      await whileFrozen(redis, async () => {
        const [token, info, page] = await Promise.all([
          provider.refresh(refresh_token),
          provider.userinfo(access_token),
          browser.ask(await provider.authorizeUrl()),
        ]);
        for (const answer of [token, info]) {
          assertRefused(answer, [503, "temporarily_unavailable"]);
        }
        assertEquals([page.status, page.headers.get("location")], [503, null]);
      });
      assertEquals((await provider.refresh(refresh_token)).status, 200);
    } finally {
      await store.close();
    }
  },
});
