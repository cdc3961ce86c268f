/** Giving tokens back (RFC 7009). @module */

import type { Route } from "@sig/api/http";
import { equalInConstantTime } from "@sig/jose";
import { authenticateClient } from "./client_auth.ts";
import { refuseDirectly } from "./oauth_error.ts";
import { MAX_FORM_BYTES } from "./pages.ts";
import { readParameters } from "./parameters.ts";
import type { ProviderContext } from "./provider_context.ts";

/**
 * `POST /oidc/revoke`. A refresh token ends its whole family; what is not known,
 * or another application's, is answered alike.
 */
export function createRevokeRoute(context: ProviderContext): Route {
  const { grants } = context;
  return {
    method: "POST",
    path: "/oidc/revoke",
    async handle(exchange) {
      try {
        const form = await exchange.readForm(MAX_FORM_BYTES);
        const parameters = readParameters(form);
        const { headers } = exchange.request;
        const client = await authenticateClient(headers, parameters, context);
        const found = await grants.find(parameters.require("token"));
        if (found?.grant.client_id === client.client_id) {
          const { refresh } = found.grant;
          if (refresh && equalInConstantTime(refresh, found.sha256)) {
            await grants.kill(found.id);
          } else await grants.dropAccess(found);
        }
        return exchange.reply(null, { status: 200 });
      } catch (error) {
        return refuseDirectly(exchange, error);
      }
    },
  };
}
