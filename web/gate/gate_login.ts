/** Where proxies send people to log in. @module */

import type { Exchange, Route } from "@sig/api/http";
import { digestOf } from "../login/digest.ts";
import { beginInteraction, requireGet } from "../openid/interaction.ts";
import { OAuthError } from "../openid/oauth_error.ts";
import { sendTo, showRefusal, withParameters } from "../openid/pages.ts";
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
export function createGateLogin(context: GateContext): Route {
  return {
    method: "GET",
    path: "/gate/login",
    async handle(exchange) {
      requireGet(exchange);
      try {
        return await exchange.waitFor(
          "sign-ins",
          () => logIn(exchange, context),
        );
      } catch (error) {
        return showRefusal(exchange, error);
      }
    },
  };
}

async function logIn(
  exchange: Exchange,
  context: GateContext,
): Promise<Response> {
  const { recheckSession, codes, hosts, issuer, now, sessionCookie, sessions } =
    context;
  const { request: { headers, url } } = exchange;
  const { before, address: { href, host } } = readGateQuery(url, hosts);
  const begin = readBegin(before);
  const session = await sessions.find(sessionCookie.read(headers));
  if (
    session === undefined || !isGranted(session) ||
    await recheckSession(session) === undefined
  ) {
    return await beginInteraction(exchange, context, {
      client_id: host.clientId,
      scope: GATE_SCOPES,
      return_to: gateLoginUrl(issuer, href, begin),
    });
  }
  if (host.isOwn) return sendTo(exchange, href);
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
    exchange,
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
