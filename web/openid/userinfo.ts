/** Who the bearer of an access token acts for (OIDC Core §5.3). @module */

import type { Exchange, Route } from "@sig/api/http";
import { equalInConstantTime } from "@sig/jose";
import type { Standing } from "../login/login_gate.ts";
import { isSilence } from "../sessions/assess.ts";
import { PATIENCE_MS, within } from "../sessions/within.ts";
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
  const { grants, clients, assess, lastWord, now } = context;
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
  let standing: Standing | undefined;
  try {
    standing = await within(PATIENCE_MS, assess(session, client));
  } catch (error) {
    // Who could not be asked about goes on as they were, if this was asked, and
    // for as long as the issuer said.
    const { require = [] } = found.grant;
    const wasAsked = client.require.every((each) => require.includes(each));
    if (!isSilence(error) || !wasAsked) throw error;
    standing = await lastWord(session, error, client.require);
  }
  if (standing === undefined) throw refuse();
  const { subject } = grant;
  const { scope = grant.scope } = good;
  return await claimsOf({ subject, standing, scope }, context);
}

function refuse(): OAuthError {
  return new OAuthError("invalid_token", "the token is not good", "Bearer");
}
