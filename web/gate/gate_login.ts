/** Where proxies send people to log in. @module */

import type { ServiceEnv } from "@sig/api/http";
import type { Context, Hono } from "hono";
import { digestOf } from "../login/digest.ts";
import { beginInteraction } from "../openid/interaction.ts";
import { OAuthError } from "../openid/oauth_error.ts";
import { requireGet, sendTo, withParameters } from "../openid/pages.ts";
import { onlyValue } from "../openid/parameters.ts";
import { randomText } from "../sessions/sessions.ts";
import { GATE_SCOPES, type GateContext, isGranted } from "./gate_context.ts";
import { readGateQuery } from "./return_address.ts";

/** Milliseconds that a code is good for. */
const CODE_LIFE_MS = 60_000;
const CODE_BYTES = 32;

/**
 * `GET /gate/login?rd=…`. Who is logged in, still vouched for, and has kept
 * nothing back of what proxies are told, goes back:
 * straight on the login's own host, elsewhere with a code for that host.
 */
export function addGateLogin(
  app: Hono<ServiceEnv>,
  context: GateContext,
): void {
  app.get(
    "/gate/login",
    requireGet,
    (c) => c.get("budget").waitFor("sign-ins", () => logIn(c, context)),
  );
}

async function logIn(
  c: Context<ServiceEnv>,
  context: GateContext,
): Promise<Response> {
  const { recheckSession, codes, hosts, issuer, now, sessionCookie, sessions } =
    context;
  const { url, headers } = c.req.raw;
  const { before, address: { href, host } } = readGateQuery(url, hosts);
  const begin = readBegin(before);
  const session = await sessions.find(sessionCookie.read(headers));
  if (
    session === undefined || !isGranted(session) ||
    await recheckSession(session) === undefined
  ) {
    return await beginInteraction(c, context, {
      client_id: host.clientId,
      scope: GATE_SCOPES,
      return_to: gateLoginUrl(issuer, href, begin),
    });
  }
  if (host.isOwn) return sendTo(href);
  const code = randomText(CODE_BYTES);
  const at = now();
  await codes.create(
    await digestOf(code),
    {
      sid: session.sid,
      host: host.host,
      ...(begin === undefined ? {} : { begin_sha256: begin }),
    },
    new Date(at.getTime() + CODE_LIFE_MS),
    at,
  );
  return sendTo(
    withParameters(`${host.origin}/_sig/return`, { code, rd: href }),
  );
}

/** The digest of a browser's cookie at the host of an application. */
function readBegin(before: URLSearchParams): string | undefined {
  if (!before.has("begin")) return undefined;
  const begin = onlyValue(before, "begin") ?? "";
  if (/^[A-Za-z0-9_-]{43}$/.test(begin)) return begin;
  throw new OAuthError("invalid_request", "begin must be a SHA-256 digest");
}

/** The address that logs a browser in and leads to another one. */
export function gateLoginUrl(
  issuer: string,
  rd: string,
  begin?: string,
): string {
  return withParameters(`${issuer}/gate/login`, { begin, rd });
}
