import { assert, assertEquals, assertRejects } from "@std/assert";
import * as openid from "openid-client";
import * as oauth from "oauth4webapi";
import { calculateJwkThumbprint, exportJWK, generateKeyPair } from "jose";
import type { Person } from "../testdata/independent_client.ts";
import {
  Browser,
  CALLBACK,
  SECRET,
  TestProvider,
  usualClients,
} from "./testdata/test_provider.ts";

async function discover(
  provider: TestProvider,
  id: string,
  auth: openid.ClientAuth = openid.ClientSecretPost(SECRET),
  metadata: Partial<openid.ClientMetadata> = {},
): Promise<openid.Configuration> {
  const config = await openid.discovery(
    new URL(provider.origin),
    id,
    metadata,
    auth,
    { execute: [openid.allowInsecureRequests] },
  );
  // openid-client leaves some response bodies unread.
  config[openid.customFetch] = async (url, init) => {
    // deno-lint-ignore no-explicit-any -- the two declare a body differently
    const response = await fetch(url, init as any);
    return new Response(await response.arrayBuffer(), response);
  };
  return config;
}

/** Logs in with `openid-client` and returns the tokens. */
async function logIn(
  provider: TestProvider,
  config: openid.Configuration,
  person: Person,
  more: Record<string, string> = {},
  browser = new Browser(),
) {
  const verifier = openid.randomPKCECodeVerifier();
  const expectedNonce = openid.randomNonce();
  const expectedState = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: "openid profile groups offline_access",
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    nonce: expectedNonce,
    state: expectedState,
    ...more,
  });
  const back = await browser.signIn(provider, person, url.href);
  return await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedNonce,
    expectedState,
    idTokenExpected: true,
  });
}

for (
  const [name, auth] of [
    ["client_secret_basic", openid.ClientSecretBasic(SECRET)],
    ["client_secret_post", openid.ClientSecretPost(SECRET)],
  ] as const
) {
  Deno.test(`openid-client logs in, fetches userinfo, refreshes and revokes by ${name}`, async () => {
    await using provider = await TestProvider.start();
    const { person } = await provider.employ();
    const config = await discover(provider, "app", auth);
    const tokens = await logIn(provider, config, person);
    const claims = tokens.claims()!;
    assertEquals(claims.sub, person.did);
    assertEquals(claims.amr, ["pop"]);
    assertEquals(claims.groups, ["employee", "role:deploy"]);
    assertEquals(claims.roles, ["deploy"]);
    assert(/^u-[0-9a-f]{16}$/.test(String(claims.preferred_username)));
    assertEquals(claims.email, undefined);
    const info = await openid.fetchUserInfo(
      config,
      tokens.access_token,
      person.did,
    );
    assertEquals(info.groups, claims.groups);
    assertEquals(info.sig, claims.sig);
    const next = await openid.refreshTokenGrant(
      config,
      tokens.refresh_token!,
    );
    assertEquals(next.claims()?.sid, claims.sid);
    await openid.tokenRevocation(config, next.refresh_token!);
    await assertRejects(
      () => openid.refreshTokenGrant(config, next.refresh_token!),
      openid.ResponseBodyError,
    );
    const error = await assertRejects(
      () => openid.fetchUserInfo(config, next.access_token, person.did),
      openid.WWWAuthenticateChallengeError,
    );
    assertEquals(error.cause[0]?.parameters.error, "invalid_token");
  });
}

for (const alg of ["RS256", "ES256", "EdDSA"] as const) {
  Deno.test(`openid-client accepts ID tokens signed by ${alg}`, async () => {
    const clients = await usualClients();
    clients[0]!.id_token_signed_response_alg = alg;
    await using provider = await TestProvider.start({ clients });
    const { person } = await provider.employ();
    const config = await discover(
      provider,
      "app",
      openid.ClientSecretPost(SECRET),
      { id_token_signed_response_alg: alg },
    );
    // Verifies signatures too, which is optional with TLS.
    openid.enableNonRepudiationChecks(config);
    const tokens = await logIn(provider, config, person);
    assertEquals(tokens.claims()?.sub, person.did);
  });
}

Deno.test("openid-client logs in by private_key_jwt", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...await exportJWK(publicKey), alg: "ES256" };
  const kid = await calculateJwkThumbprint(jwk);
  const clients = [{
    client_id: "app",
    jwks: { keys: [{ ...jwk, kid }] },
    redirect_uris: [CALLBACK],
  }];
  await using provider = await TestProvider.start({ clients });
  const { person } = await provider.employ();
  const config = await discover(
    provider,
    "app",
    openid.PrivateKeyJwt({ key: privateKey, kid }),
  );
  const tokens = await logIn(provider, config, person);
  assertEquals(tokens.claims()?.sub, person.did);
});

Deno.test("oauth4webapi, which validates strictly, logs in as a public client", async () => {
  await using provider = await TestProvider.start();
  const { person } = await provider.employ();
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(provider.origin);
  for (const algorithm of ["oidc", "oauth2"] as const) {
    const as = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm, ...insecure }),
    );
    const client: oauth.Client = {
      client_id: "spa",
      id_token_signed_response_alg: "ES256",
    };
    const redirectUri = "https://spa.example/callback";
    const verifier = oauth.generateRandomCodeVerifier();
    const url = await provider.authorizeUrl({
      client_id: "spa",
      redirect_uri: redirectUri,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    });
    const back = await new Browser().signIn(provider, person, url);
    const parameters = oauth.validateAuthResponse(as, client, back, "s1");
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      oauth.None(),
      parameters,
      redirectUri,
      verifier,
      insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(
      as,
      client,
      response,
      { expectedNonce: "n1", requireIdToken: true },
    );
    await oauth.validateApplicationLevelSignature(as, response, insecure);
    const info = await oauth.processUserInfoResponse(
      as,
      client,
      person.did,
      await oauth.userInfoRequest(as, client, tokens.access_token, insecure),
    );
    assertEquals(info.groups, ["employee", "role:deploy"]);
    assertEquals(tokens.refresh_token, undefined);
  }
});
