/** Giving tokens back (RFC 7009). @module */

import type { Hono } from "hono";
import { readForm, type ServiceEnv } from "@sig/api/http";
import { equalInConstantTime } from "@sig/jose/internal";
import { authenticateClient } from "./client_auth.ts";
import { MAX_FORM_BYTES } from "./pages.ts";
import { readParameters } from "./parameters.ts";
import type { ProviderContext } from "./provider_context.ts";

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
        await grants.kill(found.id);
      } else await grants.dropAccess(found);
    }
    return c.body(null);
  });
}
