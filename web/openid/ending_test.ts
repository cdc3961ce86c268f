import { createMemoryStore, openStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose";
import { Receiver } from "./testdata/fleet.ts";
import {
  assertRefused,
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

Deno.test("a revocation ends the session at the next code, refresh or userinfo request", async () => {
  await using provider = await TestProvider.start();
  for (const request of ["redeem", "refresh", "userinfo"] as const) {
    const { person, browser, relationship, ...tokens } = await provider.logIn();
    const code = await browser.codeAt(await provider.authorizeUrl());
    await provider.demo.revoke(relationship);
    const sent = {
      redeem: code,
      refresh: tokens.refresh_token,
      userinfo: tokens.access_token,
    }[request];
    const answer = await provider[request](sent);
    if (request === "userinfo") assertRefused(answer, REFUSED.token);
    else {
      assertRefused(answer, REFUSED.grant);
      assertEquals(
        answer.body.error_description,
        "the issuer no longer confirms the relationship",
      );
    }
    // A new relationship does not restore the ended session.
    await provider.demo.enrol(person.did);
    assertEquals((await provider.refresh(tokens.refresh_token)).status, 400);
    assertEquals(await browser.silentError(provider), "login_required");
  }
});

Deno.test("an unreachable issuer neither ends sessions nor allows new tokens, and userinfo responds for the grace period", async () => {
  await using provider = await TestProvider.start({
    settings: { graceMs: 60_000 },
  });
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
  provider.skewMs = 66_000;
  const late = await provider.userinfo(access_token);
  assertRefused(late, [503, "temporarily_unavailable"]);
  provider.skewMs = 0;
  provider.issuerIsDown = false;
  // The same token and code are still valid.
  assertEquals((await provider.refresh(refresh_token)).status, 200);
  assertEquals((await provider.redeem(code)).status, 200);
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

Deno.test("the store is asked only for logout tokens of applications that receive them", async () => {
  await using receiver = new Receiver();
  const store = createMemoryStore();
  let lists = 0;
  const list: typeof store.list = (kind, ...more) => {
    if (kind.name.startsWith("logout_")) lists++;
    return store.list(kind, ...more);
  };
  const counting = { ...store, list };
  await using provider = await TestProvider.start({
    store: counting,
    receiver,
  });
  assertEquals([await provider.deliver(), lists], [0, 1]);
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
  // The person sees the error on the login page and is not redirected.
  const { status, body, headers } = await send();
  assertEquals([status, body.code], [403, "relationship_denied"]);
  assertEquals(body.redirect_to, undefined);
  assertEquals(body.reasons[0].code, "role_missing");
  assertEquals(headers.get("set-cookie"), null);
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
