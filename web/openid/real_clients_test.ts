import { assertEquals, assertMatch, assertRejects } from "@std/assert";
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
  auth: openid.ClientAuth,
  metadata: Partial<openid.ClientMetadata>,
): Promise<openid.Configuration> {
  const config = await openid.discovery(
    ...[new URL(provider.origin), "app", metadata, auth] as const,
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
  });
  const back = await new Browser().signIn(provider, person, url.href);
  return await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedNonce,
    expectedState,
    idTokenExpected: true,
  });
}

const { privateKey, publicKey } = await generateKeyPair("ES256");
const jwk = { ...await exportJWK(publicKey), alg: "ES256" };
const kid = await calculateJwkThumbprint(jwk);

/** How `app` authenticates, and the algorithm of its ID tokens. */
const WAYS = [
  ["client_secret_basic", openid.ClientSecretBasic(SECRET), "RS256"],
  ["client_secret_post", openid.ClientSecretPost(SECRET), "ES256"],
  ["client_secret_post", openid.ClientSecretPost(SECRET), "EdDSA"],
  ["private_key_jwt", openid.PrivateKeyJwt({ key: privateKey, kid }), "RS256"],
] as const;

for (const [method, auth, alg] of WAYS) {
  Deno.test(`openid-client logs in, fetches userinfo, refreshes and revokes by ${method}, with ${alg}`, async () => {
    const [usual] = await usualClients();
    const app: Record<string, unknown> = { ...usual };
    if (method === "private_key_jwt") {
      delete app.client_secret_sha256;
      app.jwks = { keys: [{ ...jwk, kid }] };
    }
    const id_token_signed_response_alg = alg;
    await using provider = await TestProvider.start({
      clients: [{ ...app, id_token_signed_response_alg }],
    });
    const { person } = await provider.employ();
    const config = await discover(provider, auth, {
      id_token_signed_response_alg,
    });
    // Verifies signatures too, which is optional with TLS.
    openid.enableNonRepudiationChecks(config);
    const tokens = await logIn(provider, config, person);
    const claims = tokens.claims()!;
    assertEquals(claims.sub, person.did);
    assertEquals(claims.amr, ["pop"]);
    assertEquals(claims.groups, ["employee", "role:deploy"]);
    assertEquals(claims.roles, ["deploy"]);
    assertMatch(String(claims.preferred_username), /^u-[0-9a-f]{16}$/);
    assertEquals(claims.email, undefined);
    const userinfo = (token: string) =>
      openid.fetchUserInfo(config, token, person.did);
    const info = await userinfo(tokens.access_token);
    assertEquals([info.groups, info.sig], [claims.groups, claims.sig]);
    const refresh = (token: string | undefined) =>
      openid.refreshTokenGrant(config, token!);
    const next = await refresh(tokens.refresh_token);
    assertEquals(next.claims()?.sid, claims.sid);
    await openid.tokenRevocation(config, next.refresh_token!);
    await assertRejects(
      () => refresh(next.refresh_token),
      openid.ResponseBodyError,
    );
    const error = await assertRejects(
      () => userinfo(next.access_token),
      openid.WWWAuthenticateChallengeError,
    );
    assertEquals(error.cause[0]?.parameters.error, "invalid_token");
  });
}

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
