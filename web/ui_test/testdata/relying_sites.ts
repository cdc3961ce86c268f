/**
 * Sites on loopback that log people in with third-party libraries, as minimal
 * as in the documentation of those. Each answers `/` with the person's DID, or
 * redirects to the login; `/logout` logs out.
 *
 * @module
 */

import {
  getAuth,
  initOidcAuthMiddleware,
  oidcAuthMiddleware,
} from "@hono/oidc-auth";
import { Hono } from "hono";
import * as openid from "openid-client";
import { serveLoopback } from "../../../tests/kit/loopback.ts";
import { SECRET } from "../../openid/testdata/test_provider.ts";

/** A running site. */
export interface RelyingSite extends AsyncDisposable {
  readonly origin: string;
  /** Its entry in the provider's list of applications. */
  readonly client: Readonly<Record<string, unknown>>;
  /** Sets the provider's URL; before that the site answers no request. */
  join(provider: string): void;
}

type Handle = (request: Request) => Response | Promise<Response>;

/** Starts a site with the client id `id`. */
function startSite(
  id: string,
  secretSha256: string,
  open: (provider: string, origin: string) => Handle,
): RelyingSite {
  const joined = Promise.withResolvers<Handle>();
  const server = serveLoopback(async (request) =>
    await (await joined.promise)(request)
  );
  const { origin } = server;
  return {
    ...server,
    client: {
      client_id: id,
      client_secret_sha256: secretSha256,
      refresh: true,
      redirect_uris: [`${origin}/callback`],
      post_logout_redirect_uris: [`${origin}/bye`],
    },
    join: (provider) => joined.resolve(open(provider, origin)),
  };
}

function redirect(url: string | URL): Response {
  return new Response(null, { status: 302, headers: { location: `${url}` } });
}

/** A site for one visitor, with `openid-client` and a secret. */
export function startOpenidClientSite(secretSha256: string): RelyingSite {
  return startSite("by-openid-client", secretSha256, (provider, origin) => {
    const configured = openid.discovery(
      new URL(provider),
      "by-openid-client",
      {},
      openid.ClientSecretBasic(SECRET),
      { execute: [openid.allowInsecureRequests] },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const expectedNonce = openid.randomNonce();
    let tokens: { readonly sub: string; readonly idToken: string } | undefined;
    return async (request) => {
      const config = await configured;
      const url = new URL(request.url);
      if (url.pathname === "/bye") return new Response("bye");
      if (url.pathname === "/callback") {
        // The authorization response is a form post.
        const got = await openid.authorizationCodeGrant(config, request, {
          ...{ pkceCodeVerifier, expectedState, expectedNonce },
          idTokenExpected: true,
        });
        tokens = { sub: got.claims()!.sub, idToken: got.id_token! };
        return redirect("/");
      }
      if (url.pathname === "/logout" && tokens !== undefined) {
        const { idToken } = tokens;
        tokens = undefined;
        return redirect(openid.buildEndSessionUrl(config, {
          id_token_hint: idToken,
          post_logout_redirect_uri: `${origin}/bye`,
        }));
      }
      return tokens !== undefined
        ? new Response(tokens.sub)
        : redirect(openid.buildAuthorizationUrl(config, {
          redirect_uri: `${origin}/callback`,
          scope: "openid",
          response_mode: "form_post",
          state: expectedState,
          nonce: expectedNonce,
          code_challenge: await openid.calculatePKCECodeChallenge(
            pkceCodeVerifier,
          ),
          code_challenge_method: "S256",
        }));
    };
  });
}

/**
 * A site with `@hono/oidc-auth`, which refreshes its tokens at each request.
 */
export function startHonoSite(secretSha256: string): RelyingSite {
  return startSite("by-hono", secretSha256, (provider, origin) => {
    const app = new Hono();
    app.use(initOidcAuthMiddleware({
      OIDC_AUTH_SECRET: "test-secret-of-the-site-0123456789",
      OIDC_AUTH_REFRESH_INTERVAL: "-1",
      OIDC_ISSUER: provider,
      OIDC_CLIENT_ID: "by-hono",
      OIDC_CLIENT_SECRET: SECRET,
      OIDC_REDIRECT_URI: `${origin}/callback`,
      OIDC_SCOPES: "openid offline_access",
    }));
    app.use(oidcAuthMiddleware());
    app.get("*", async (c) => c.text((await getAuth(c))?.sub ?? "nobody"));
    return (request) => app.fetch(request);
  });
}
