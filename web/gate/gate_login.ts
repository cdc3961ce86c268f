/** The routes of forward auth (docs/gate.md). @module */

import type { ServiceEnv } from "@sig/api/internal/http";
import { recordsOf } from "@sig/consumer/store";
import { equalInConstantTime } from "@sig/jose/internal";
import { type Context, Hono } from "hono";
import { addForwardAuth } from "./forward_auth.ts";
import {
  GATE_SCOPES,
  type GateCode,
  type GateContext,
  gateHostOf,
  gateLoginUrl,
  hostCookiesOf,
  readGateQuery,
} from "./hosts.ts";
import { isSecret, randomText, sha256Base64Url } from "../store/digest.ts";
import {
  beginInteraction,
  type SignInContext,
} from "../sign_in/interaction.ts";
import { invalidRequest, onlyValue } from "../sign_in/oauth.ts";
import {
  refusePage,
  requireGet,
  sendTo,
  withParameters,
} from "../sign_in/pages.ts";
import { GATE_CODE } from "../store/kinds.ts";
import { OwnerQuota } from "../store/owner_quota.ts";

/** Adds the routes for proxies and for the browsers of their users. */
export function addGateRoutes(
  app: Hono<ServiceEnv>,
  signIn: SignInContext & Pick<GateContext, "hosts" | "maxAgeMs">,
): void {
  const context: GateContext = {
    ...signIn,
    codes: recordsOf<GateCode>(signIn.store, GATE_CODE),
    codesOfPerson: new OwnerQuota({ maxRecords: MAX_CODES }),
  };
  addForwardAuth(app, context);
  const pages = new Hono<ServiceEnv>();
  pages.onError((error, c) => refusePage(c, error));
  pages.get("/gate/login", requireGet, (c) => logIn(c, context));
  pages.get("/_sig/return", requireGet, (c) => continueLogin(c, context));
  app.route("/", pages);
}

/** Lifetime of a code in milliseconds. */
const CODE_LIFE_MS = 60_000;
const CODE_BYTES = 32;
/**
 * Maximum number of unused codes of one person; the oldest becomes invalid, so
 * that a person can't use up the codes of others.
 */
const MAX_CODES = 64;

/**
 * `GET /gate/login?rd=…` redirects a person who is logged in, and still
 * confirmed by the issuer, back to `rd`: directly on the login's own host, on
 * other hosts with a code for that host. There is no consent page, since the
 * hosts are the operator's own.
 */
async function logIn(
  c: Context<ServiceEnv>,
  context: GateContext,
): Promise<Response> {
  const { recheckSession, codes, codesOfPerson, hosts, issuer } = context;
  const { now, sessionCookie, sessions } = context;
  const { url, headers } = c.req.raw;
  const { before, address: { href, host } } = readGateQuery(url, hosts);
  const begin = readBegin(before);
  const session = await sessions.find(sessionCookie.read(headers));
  if (session === undefined || await recheckSession(session) === undefined) {
    return beginInteraction(c, context, {
      client_id: host.clientId,
      scope: GATE_SCOPES,
      return_to: gateLoginUrl(issuer, href, begin),
    });
  }
  if (host.isOwn) return sendTo(href);
  const code = randomText(CODE_BYTES);
  const id = sha256Base64Url(code);
  const at = now();
  const until = new Date(at.getTime() + CODE_LIFE_MS);
  const { sid } = session;
  const made = { sid, host: host.host, begin_sha256: begin };
  await codes.create(id, made, until, at);
  for (const old of codesOfPerson.add(session.person, { id, until }, at)) {
    await codes.take(old, at);
  }
  return sendTo(
    withParameters(`${host.origin}/_sig/return`, { code, rd: href }),
  );
}

/** Reads the digest of the browser's cookie at the application's host. */
function readBegin(before: URLSearchParams): string | undefined {
  if (!before.has("begin")) return undefined;
  const begin = onlyValue(before, "begin") ?? "";
  if (isSecret(begin)) return begin;
  throw invalidRequest("begin must be a SHA-256 digest");
}

const BEGIN_LIFE_SECONDS = 900;

/**
 * `GET /_sig/return?code=…&rd=…`, on the application's host, through its proxy,
 * sets the cookie there.
 *
 * A code alone would let an attacker log in a victim's browser as the attacker,
 * by a link. So a code that is not bound to a browser only starts the login:
 * the browser gets a cookie here and fetches a code bound to that cookie from
 * the login server, which knows the browser.
 */
async function continueLogin(
  c: Context<ServiceEnv>,
  context: GateContext,
): Promise<Response> {
  const { codes, hosts, issuer, now } = context;
  const request = c.req.raw;
  const host = gateHostOf(request, hosts);
  const { before, address } = readGateQuery(request.url, hosts);
  if (host === undefined || host.isOwn || address.host !== host) {
    throw invalidRequest("rd is a URL of another host");
  }
  const code = onlyValue(before, "code") ?? "";
  const found = await codes.take(sha256Base64Url(code), now());
  if (found === undefined || found.host !== host.host) {
    throw invalidRequest("the code is invalid or was used");
  }
  const { begin_sha256, sid } = found;
  if (begin_sha256 === undefined) {
    const begin = host.beginCookie.secretIn(request.headers);
    return sendTo(gateLoginUrl(issuer, address.href, sha256Base64Url(begin)), [
      host.beginCookie.set(begin, BEGIN_LIFE_SECONDS),
    ]);
  }
  const browser = host.beginCookie.read(request.headers) ?? "";
  if (!equalInConstantTime(sha256Base64Url(browser), begin_sha256)) {
    throw invalidRequest(
      "another browser started this login, or this browser does not store cookies",
    );
  }
  const session = await context.sessions.get(sid);
  if (session === undefined) throw invalidRequest("the session has ended");
  const [cookie = ""] = hostCookiesOf(context, host, session);
  const seconds = Math.ceil((session.expires_ms - now().getTime()) / 1000);
  return sendTo(address.href, [host.cookie.set(cookie, seconds)]);
}
