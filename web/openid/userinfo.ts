/** The userinfo endpoint (OIDC Core §5.3). @module */

import { sendJson, type ServiceEnv } from "@sig/api/internal/http";
import type { Hono } from "hono";
import { equalInConstantTime } from "@sig/jose/internal";
import { claimsOf } from "./claims.ts";
import { sessionOf } from "./grants.ts";
import { OAuthError } from "../sign_in/oauth_error.ts";
import type { ProviderContext } from "./provider_context.ts";

/**
 * Adds `GET` and `POST /oidc/userinfo`; the token is only accepted in the
 * header.
 */
export function addUserinfoRoutes(
  app: Hono<ServiceEnv>,
  context: ProviderContext,
): void {
  app.on(["GET", "POST"], "/oidc/userinfo", async (c) => {
    // A POST has no body that matters, so it begins to wait here.
    c.get("budget").enter();
    return sendJson(c, await read(c.req.raw.headers, context));
  });
}

async function read(
  headers: Headers,
  context: ProviderContext,
): Promise<object> {
  const { grants, clients, recheckOrGrace, now } = context;
  const [, token = ""] = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i
    .exec(headers.get("authorization") ?? "") ?? [];
  const found = await grants.find(token);
  const good = found?.grant.access.find(({ sha256, expires_ms }) =>
    equalInConstantTime(sha256, found.sha256) && now().getTime() < expires_ms
  );
  const client = clients().get(found?.grant.client_id ?? "");
  if (found === undefined || good === undefined || client === undefined) {
    throw refuse();
  }
  const { grant } = found;
  const session = await sessionOf(grant, context);
  if (session === undefined) throw refuse();
  // If the issuer does not respond, only the requirements at the login are
  // known to be met.
  const { require = [] } = found.grant;
  const wasMet = client.require.every((each) => require.includes(each));
  const relationship = await recheckOrGrace(session, { client, wasMet });
  if (relationship === undefined) throw refuse();
  const { subject } = grant;
  const { scope = grant.scope } = good;
  return claimsOf({ subject, relationship, scope }, context);
}

function refuse(): OAuthError {
  const message = "the token is invalid or has expired";
  return new OAuthError("invalid_token", message, { scheme: "Bearer" });
}
