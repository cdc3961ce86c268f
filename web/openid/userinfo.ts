/** Who the bearer of an access token acts for (OIDC Core §5.3). @module */

import type { Exchange, Route } from "@sig/api/http";
import { equalInConstantTime } from "@sig/jose";
import { claimsOf } from "./claims.ts";
import { sessionOf } from "./live_grant.ts";
import { OAuthError, refuseDirectly } from "./oauth_error.ts";
import type { ProviderContext } from "./provider_context.ts";

/** `GET` and `POST /oidc/userinfo`; the token is in the header alone. */
export function createUserinfoRoutes(
  context: ProviderContext,
): readonly Route[] {
  return (["GET", "POST"] as const).map((method) => ({
    method,
    path: "/oidc/userinfo",
    async handle(exchange: Exchange) {
      try {
        const claims = await exchange.waitFor(
          "userinfo",
          () => read(exchange.request.headers, context),
        );
        return exchange.json(claims);
      } catch (error) {
        return refuseDirectly(exchange, error);
      }
    },
  }));
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
  // While the issuer gives no answer: only what was asked is known to be met.
  const { require = [] } = found.grant;
  const wasMet = client.require.every((each) => require.includes(each));
  const standing = await recheckOrGrace(session, { client, wasMet });
  if (standing === undefined) throw refuse();
  const { subject } = grant;
  const { scope = grant.scope } = good;
  return await claimsOf({ subject, standing, scope }, context);
}

function refuse(): OAuthError {
  return new OAuthError("invalid_token", "the token is not good", "Bearer");
}
