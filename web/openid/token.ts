/**
 * The endpoints that applications call with tokens: token, revocation and
 * userinfo (RFC 6749 §4.1.3, §6; RFC 7009; OIDC Core §3.1.3, §5.3, §12).
 *
 * @module
 */

import { readForm, sendJson, type ServiceEnv } from "@sig/api/internal/http";
import { equalInConstantTime } from "@sig/jose/internal";
import type { Context } from "hono";
import { sha256Base64Url } from "../store/digest.ts";
import {
  OAuthError,
  type Parameters,
  readParameters,
} from "../sign_in/oauth.ts";
import { authenticateClient } from "./client_auth.ts";
import type { Client } from "./clients.ts";
import {
  CODE_LIFE_MS,
  type FoundGrant,
  isRefreshToken,
  sessionOf,
  TOKEN_LIFE_SECONDS,
} from "./grants.ts";
import { claimsOf, signIdToken } from "./id_token.ts";
import type { ProviderContext } from "./provider_context.ts";

/** Reads a form that an application sent, and authenticates it. */
async function readRequest(c: Context<ServiceEnv>, context: ProviderContext) {
  const parameters = readParameters(await readForm(c));
  const { headers } = c.req.raw;
  const client = await authenticateClient(headers, parameters, context);
  return { parameters, client };
}

/** `POST /oidc/token`. */
export async function issueByGrant(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const { parameters, client } = await readRequest(c, context);
  switch (parameters.require("grant_type")) {
    case "authorization_code":
      return sendJson(c, await redeemCode(parameters, client, context));
    case "refresh_token":
      return sendJson(c, await refresh(parameters, client, context));
  }
  throw new OAuthError(
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
  ) throw refuse("unknown code");
  const { grant, id } = found;
  const { redirect_uri, code_challenge } = grant.binding;
  if (redirect_uri !== redirectUri) {
    throw refuse("the code was sent to another redirect_uri");
  }
  // A verifier without a challenge means that an attacker removed the challenge
  // (RFC 9700 §4.8.2).
  const isVerified = code_challenge === undefined
    ? parameters.get("code_verifier") === undefined
    : matchesChallenge(parameters.require("code_verifier"), code_challenge);
  if (!isVerified) throw refuse("code_verifier does not match");
  if (grant.code.used) {
    // A second use indicates a stolen code (RFC 6749 §4.1.2).
    await grants.revokeFamily(id);
    throw refuse(CODE_USED);
  }
  if (!(now().getTime() < grant.created_ms + CODE_LIFE_MS)) {
    throw refuse("the code has expired");
  }
  return await issueTokens(found, client, context, {
    used: CODE_USED,
    scope: undefined,
    nonce: grant.binding.nonce,
  });
}

function matchesChallenge(verifier: string, challenge: string): boolean {
  return /^[A-Za-z0-9._~-]{43,128}$/.test(verifier) &&
    equalInConstantTime(sha256Base64Url(verifier), challenge);
}

const CODE_USED = "the code was used before; all that it gave is revoked";

async function refresh(
  parameters: Parameters,
  client: Client,
  context: ProviderContext,
): Promise<object> {
  if (!client.refresh) {
    throw new OAuthError(
      "unauthorized_client",
      "this client may not use refresh tokens",
    );
  }
  const { grants } = context;
  const found = await grants.find(parameters.require("refresh_token"));
  const asked = parameters.get("scope")?.split(" ");
  if (found?.grant.client_id !== client.client_id) throw refuse(NOT_KNOWN);
  if (asked?.every((each) => found.grant.scope.includes(each)) === false) {
    throw new OAuthError("invalid_scope", "scope exceeds what was granted");
  }
  if (asked?.includes("openid") === false) {
    throw new OAuthError("invalid_scope", "scope must contain openid");
  }
  // Only reuse of a token that was valid indicates theft.
  if (!grants.wasRefreshToken(found)) throw refuse(NOT_KNOWN);
  return await issueTokens(found, client, context, {
    used: "the refresh token was used before; its family is revoked",
    scope: asked,
    // ID tokens of a refresh have no nonce (OIDC Core §12.2).
    nonce: undefined,
  });
}

const NOT_KNOWN = "the refresh token is unknown, or was replaced";

/**
 * Issues tokens if the session continues and the issuer confirms the person.
 */
async function issueTokens(
  found: FoundGrant,
  client: Client,
  context: ProviderContext,
  { used, scope: asked, nonce }: {
    /** The error message if a concurrent request used the grant first. */
    readonly used: string;
    /** The scope of the access token (default: all that was granted). */
    readonly scope: readonly string[] | undefined;
    readonly nonce: string | undefined;
  },
): Promise<object> {
  const { subject, auth_time, sid, scope } = found.grant;
  const session = await sessionOf(found.grant, context);
  if (session === undefined) throw refuse("the session has ended");
  // Checked before the grant is used, so that it remains valid if the issuer
  // does not respond.
  const relationship = await context.recheckSession(session, { client });
  if (relationship === undefined) {
    throw refuse("the issuer no longer confirms the relationship");
  }
  const tokens = await context.grants.exchange(found, {
    refreshUntil: client.refresh ? new Date(session.expires_ms) : undefined,
    scope: asked,
  });
  if (tokens === undefined) throw refuse(used);
  const granted = asked ?? scope;
  const person = { subject, relationship, scope: granted };
  const { access_token } = tokens;
  const claims = { ...claimsOf(person, context), auth_time, sid, nonce };
  const id_token = await signIdToken(context, client, claims, access_token);
  return {
    ...tokens,
    token_type: "Bearer",
    expires_in: TOKEN_LIFE_SECONDS,
    id_token,
    scope: granted.join(" "),
  };
}

function refuse(why: string): OAuthError {
  return new OAuthError("invalid_grant", why);
}

/**
 * `POST /oidc/revoke`. Revoking a refresh token revokes its whole family.
 * Unknown tokens and those of other applications get the same response.
 */
export async function revoke(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const { grants } = context;
  const { parameters, client } = await readRequest(c, context);
  const found = await grants.find(parameters.require("token"));
  if (found?.grant.client_id === client.client_id) {
    if (isRefreshToken(found.grant, found)) {
      await grants.revokeFamily(found.id);
    } else await grants.revokeAccessToken(found);
  }
  return c.body(null);
}

/** `GET` and `POST /oidc/userinfo`; the token is only accepted in the header. */
export async function userinfo(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  // A POST has no body that matters, so it begins to wait here.
  c.get("budget").enter();
  const { grants, clients, recheckOrGrace, now } = context;
  const [, token = ""] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i
    .exec(c.req.header("authorization") ?? "") ?? [];
  const found = await grants.find(token);
  const good = found?.grant.access.find(({ sha256, expires_ms }) =>
    equalInConstantTime(sha256, found.sha256) && now().getTime() < expires_ms
  );
  const client = clients().get(found?.grant.client_id ?? "");
  if (found === undefined || good === undefined || client === undefined) {
    throw invalidToken();
  }
  const { grant } = found;
  const session = await sessionOf(grant, context);
  if (session === undefined) throw invalidToken();
  // If the issuer does not respond, only the requirements at the login are
  // known to be met.
  const { require = [] } = found.grant;
  const wasMet = client.require.every((each) => require.includes(each));
  const relationship = await recheckOrGrace(session, { client, wasMet });
  if (relationship === undefined) throw invalidToken();
  const { subject } = grant;
  const { scope = grant.scope } = good;
  return sendJson(c, claimsOf({ subject, relationship, scope }, context));
}

function invalidToken(): OAuthError {
  const message = "the token is invalid or has expired";
  return new OAuthError("invalid_token", message, { scheme: "Bearer" });
}
