/**
 * Routes that list and revoke a person's consents. Consents are stored in the
 * session: `clients` in `sessions/session.ts`, written by `logIn`.
 *
 * @module
 */

import { readJson, sendJson, type ServiceEnv } from "@sig/api/internal/http";
import { readAs, strictObject } from "@sig/api/internal/schemas";
import { SigError } from "@sig/core";
import type { Context } from "hono";
import { z } from "zod";
import { requireOwnPage } from "../sessions/cookies.ts";
import type { Session } from "../sessions/session.ts";
import type { ProviderContext } from "./provider_context.ts";

const MAX_BODY_BYTES = 4 * 1024;

const REVOKE = strictObject({ client_id: z.string() });

const sessionOf = (
  c: Context<ServiceEnv>,
  { sessions, sessionCookie }: ProviderContext,
) => sessions.find(sessionCookie.read(c.req.raw.headers));

/**
 * `GET /oidc/consents` lists the applications that the person has approved in
 * this session, with their scopes.
 */
export async function listConsents(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  return sendJson(c, describe(await sessionOf(c, context), context));
}

/**
 * `POST /oidc/consents/revoke` `{client_id}` revokes a consent: the
 * application's tokens become invalid, and its next login shows the consent page
 * again.
 */
export async function revokeConsent(
  c: Context<ServiceEnv>,
  context: ProviderContext,
): Promise<Response> {
  const { sessions, issuer, notifyNow } = context;
  requireOwnPage(c.req.raw.headers, issuer);
  const { client_id } = readAs(REVOKE, await readJson(c, MAX_BODY_BYTES));
  const session = await sessionOf(c, context);
  const { consents } = describe(session, context);
  if (!session || !consents.some((each) => each.client_id === client_id)) {
    throw new SigError("not_found", {
      action: "revoke",
      reason: "this application is not among those approved here",
      context: { pointer: "/client_id" },
    });
  }
  await sessions.leave(session.sid, client_id);
  notifyNow();
  return sendJson(c, describe(await sessions.get(session.sid), context));
}

function describe(
  session: Session | undefined,
  { applicationOf }: ProviderContext,
) {
  const joined = Object.entries(session?.clients ?? {});
  return {
    subject: session?.subject ?? null,
    consents: joined.map(([client_id, { granted, since_ms }]) => ({
      client_id,
      client_name: applicationOf(client_id)?.client_name ?? client_id,
      scopes: granted,
      since: new Date(since_ms).toISOString(),
    })),
  };
}
