/** Where people come back to the host of an application. @module */

import type { ServiceEnv } from "@sig/api/http";
import type { Context, Hono } from "hono";
import { equalInConstantTime } from "@sig/jose/internal";
import { digestOf } from "../login/digest.ts";
import { OAuthError } from "../openid/oauth_error.ts";
import { requireGet, sendTo } from "../openid/pages.ts";
import { onlyValue } from "../openid/parameters.ts";
import { randomText } from "../sessions/sessions.ts";
import { type GateContext, gateHostOf } from "./gate_context.ts";
import { gateLoginUrl } from "./gate_login.ts";
import { readGateQuery } from "./return_address.ts";

const BEGIN_BYTES = 32;
const BEGIN_LIFE_SECONDS = 900;

/**
 * `GET /_sig/return?code=…&rd=…`, on the application's host by way of its proxy:
 * sets the cookie there.
 *
 * A code alone would log in whoever follows its link: an attacker, as the
 * attacker. So one that no browser was named for only begins: the browser gets a
 * cookie here, and brings a code for that from the login, where it is known.
 */
export function addGateReturn(
  app: Hono<ServiceEnv>,
  context: GateContext,
): void {
  app.get("/_sig/return", requireGet, (c) => goOn(c, context));
}

async function goOn(
  c: Context<ServiceEnv>,
  context: GateContext,
): Promise<Response> {
  const { beginCookie, codes, gateCookie, hosts, issuer, now } = context;
  const request = c.req.raw;
  const host = gateHostOf(request, hosts);
  const { before, address } = readGateQuery(request.url, hosts);
  if (host === undefined || host.isOwn || address.host !== host) {
    throw refuse("this address is of another host");
  }
  const code = onlyValue(before, "code") ?? "";
  const found = await codes.take(await digestOf(code), now());
  if (found === undefined || found.host !== host.host) {
    throw refuse("its code is not good, or was used");
  }
  const { begin_sha256, sid } = found;
  const browser = beginCookie.read(request.headers);
  if (begin_sha256 === undefined) {
    const begin = browser !== undefined && /^[A-Za-z0-9_-]{43}$/.test(browser)
      ? browser
      : randomText(BEGIN_BYTES);
    return sendTo(gateLoginUrl(issuer, address.href, await digestOf(begin)), [
      beginCookie.set(begin, BEGIN_LIFE_SECONDS),
    ]);
  }
  if (!equalInConstantTime(await digestOf(browser ?? ""), begin_sha256)) {
    throw refuse("another browser began it, or this one keeps no cookies");
  }
  const admitted = await context.sessions.admit(sid, host.clientId);
  if (admitted === undefined) throw refuse("its session is over");
  const { cookie, session } = admitted;
  const seconds = Math.ceil((session.expires_ms - now().getTime()) / 1000);
  return sendTo(address.href, [
    gateCookie(host).set(cookie, seconds),
  ]);
}

function refuse(why: string): OAuthError {
  return new OAuthError("invalid_request", why);
}
