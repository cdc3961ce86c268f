/** Where applications get tokens (RFC 6749 §4.1.3, §6; OIDC Core §3.1.3, §12). @module */

import { readForm, sendJson, type ServiceEnv } from "@sig/api/http";
import { equalInConstantTime } from "@sig/jose/internal";
import type { Context, Hono } from "hono";
import { sha256Base64Url } from "../login/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import { claimsOf } from "./claims.ts";
import { authenticateClient } from "./client_auth.ts";
import type { Client } from "./clients.ts";
import {
  CODE_LIFE_MS,
  type FoundGrant,
  type Grant,
  type IssuedTokens,
  sessionOf,
  TOKEN_LIFE_SECONDS,
} from "./grants.ts";
import { signIdToken } from "./jwt.ts";
import { OAuthError } from "./oauth_error.ts";
import { MAX_FORM_BYTES } from "./pages.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import type { ProviderContext } from "./provider_context.ts";
import type { Session } from "../sessions/session.ts";

/** `POST /oidc/token`. */
export function addTokenRoute(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  app.post("/oidc/token", async (c) => {
    const form = await readForm(c, MAX_FORM_BYTES);
    return await c.get("budget").waitFor(
      "tokens",
      () => answer(c, readParameters(form), context),
    );
  });
}

async function answer(
  c: Context<ServiceEnv>,
  parameters: Parameters,
  context: ProviderContext,
): Promise<Response> {
  const { headers } = c.req.raw;
  const client = await authenticateClient(headers, parameters, context);
  const grantType = parameters.require("grant_type");
  if (grantType === "authorization_code") {
    return sendJson(c, await redeemCode(parameters, client, context));
  }
  if (grantType === "refresh_token" && client.refresh) {
    return sendJson(c, await refresh(parameters, client, context));
  }
  throw grantType === "refresh_token"
    ? new OAuthError("unauthorized_client", "it may not refresh")
    : new OAuthError(
      "unsupported_grant_type",
      "grant_type must be authorization_code or refresh_token",
    );
}

async function redeemCode(
  parameters: Parameters,
  client: Client,
  context: ProviderContext,
): Promise<object> {
  const { grants, now } = context;
  const found = await grants.find(parameters.require("code"));
  const redirectUri = parameters.require("redirect_uri");
  if (
    found === undefined || found.grant.client_id !== client.client_id ||
    !equalInConstantTime(found.grant.code.sha256, found.sha256)
  ) throw refuse("the code is not known");
  const { grant, id } = found;
  const { redirect_uri, code_challenge } = grant.binding;
  if (redirect_uri !== redirectUri) {
    throw refuse("the code was sent to another redirect_uri");
  }
  // A verifier without a challenge: somebody took the challenge out (RFC 9700 §4.8.2).
  const verifier = code_challenge === undefined
    ? parameters.get("code_verifier")
    : parameters.require("code_verifier");
  const isVerified = code_challenge === undefined || verifier === undefined
    ? verifier === undefined
    : /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) &&
      equalInConstantTime(await sha256Base64Url(verifier), code_challenge);
  if (!isVerified) throw refuse("code_verifier does not fit");
  if (grant.dead || grant.code.used) {
    // Two have it, and one of them is a thief (RFC 6749 §4.1.2).
    await grants.revokeFamily(id);
    throw refuse("the code was used before; all that it gave is revoked");
  }
  if (!(now().getTime() < grant.created_ms + CODE_LIFE_MS)) {
    throw refuse("the code has expired");
  }
  const { session, relationship } = await requireLive(found, client, context);
  const tokens = await grants.redeem(found, {
    refresh: client.refresh,
    expiresMs: session.expires_ms,
  });
  if (tokens === undefined) {
    throw refuse("the code was used before; all that it gave is revoked");
  }
  return await tokenResponse(
    tokens,
    grant,
    client,
    relationship,
    context,
    true,
  );
}

async function refresh(
  parameters: Parameters,
  client: Client,
  context: ProviderContext,
): Promise<object> {
  const { grants } = context;
  const found = await grants.find(parameters.require("refresh_token"));
  const asked = parameters.get("scope")?.split(" ");
  if (
    found === undefined || found.grant.client_id !== client.client_id ||
    found.grant.dead
  ) throw refuse(NOT_KNOWN);
  if (asked?.every((each) => found.grant.scope.includes(each)) === false) {
    throw new OAuthError("invalid_scope", "that was not granted");
  }
  if (asked?.includes("openid") === false) {
    throw new OAuthError("invalid_scope", "scope must have openid");
  }
  // Only a token that once was good betrays that two have it.
  if (!await grants.wasRefreshToken(found)) throw refuse(NOT_KNOWN);
  // Before it is replaced: one whom nobody could be asked about keeps it.
  const { session, relationship } = await requireLive(found, client, context);
  const tokens = await grants.rotate(found, {
    refresh: true,
    expiresMs: session.expires_ms,
    scope: asked,
  });
  if (tokens === undefined) {
    throw refuse("the refresh token was used before; its family is revoked");
  }
  const { grant } = found;
  const narrowed = { ...grant, scope: asked ?? grant.scope };
  return await tokenResponse(
    tokens,
    narrowed,
    client,
    relationship,
    context,
    false,
  );
}

const NOT_KNOWN = "the refresh token is not known (any more)";

/** Requires a live session and an issuer that still allows. */
async function requireLive(
  { grant }: FoundGrant,
  client: Client,
  context: ProviderContext,
): Promise<
  { readonly session: Session; readonly relationship: MatchedRelationship }
> {
  const session = await sessionOf(grant, context);
  const relationship = session &&
    await context.recheckSession(session, { client });
  if (session !== undefined && relationship !== undefined) {
    return { session, relationship };
  }
  throw refuse(
    session === undefined
      ? "the session is over"
      : "the issuer does not vouch for the person any more",
  );
}

async function tokenResponse(
  tokens: IssuedTokens,
  { subject, scope, auth_time, sid, binding }: Grant,
  client: Client,
  relationship: MatchedRelationship,
  context: ProviderContext,
  isFirst: boolean,
): Promise<object> {
  const claims = await claimsOf({ subject, relationship, scope }, context);
  const { access_token } = tokens;
  const id_token = await signIdToken(context, client, {
    ...{ claims, auth_time, sid, access_token },
    // It answers the request, and no refresh of later (OIDC Core §12.2).
    nonce: isFirst ? binding.nonce : undefined,
  });
  return {
    ...tokens,
    token_type: "Bearer",
    expires_in: TOKEN_LIFE_SECONDS,
    id_token,
    scope: scope.join(" "),
  };
}

function refuse(why: string): OAuthError {
  return new OAuthError("invalid_grant", why);
}

/**
 * `POST /oidc/revoke`. A refresh token ends its whole family; what is not known,
 * or another application's, is answered alike.
 */
export function addRevokeRoute(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  const { grants } = context;
  app.post("/oidc/revoke", async (c) => {
    const form = await readForm(c, MAX_FORM_BYTES);
    const parameters = readParameters(form);
    const { headers } = c.req.raw;
    const client = await authenticateClient(headers, parameters, context);
    const found = await grants.find(parameters.require("token"));
    if (found?.grant.client_id === client.client_id) {
      const { refresh } = found.grant;
      if (refresh && equalInConstantTime(refresh, found.sha256)) {
        await grants.revokeFamily(found.id);
      } else await grants.revokeAccessToken(found);
    }
    return c.body(null);
  });
}
