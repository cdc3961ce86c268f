/** The question of a proxy: who is there? @module */

import type { Exchange, Route } from "@sig/api/http";
import { SigError } from "@sig/core";
import { sendTo } from "../openid/pages.ts";
import { createPatientQuestion } from "../sessions/patient_question.ts";
import { type GateContext, gateHostOf, isGranted } from "./gate_context.ts";
import type { GateHost } from "./gate_hosts.ts";
import { gateLoginUrl } from "./gate_login.ts";
import { identityHeaders } from "./identity_headers.ts";
import { createRecentAnswers, RECENT_MS } from "./recent_answers.ts";
import { readReturnAddress } from "./return_address.ts";

/** What a proxy is told, and of which session. */
interface Answered {
  /** Of the session's record: another one is to be judged. */
  readonly version: string;
  /** Who it is. */
  readonly headers: Identity;
}

type Identity = readonly (readonly [string, string])[];

/**
 * `GET /forward-auth`: 200 with who it is, else 401. With `?redirect`, for proxies
 * that pass our answer on as it is, a page is sent to the login instead.
 *
 * An issuer that can't be asked is no deny: who is logged in goes on as they
 * were, until their session is over.
 *
 * A page is many requests at once. So what was answered is answered again in the
 * same second, to the same cookie, while the store has the session as it was: its
 * end counts at once. The issuer's word is asked to be younger by a second. Only
 * a relationship that ends amid a second goes on to the end of it.
 */
export function createForwardAuth(context: GateContext): Route {
  const { hosts, sessions, maxAgeMs, now } = context;
  const isRemembered = maxAgeMs >= 2 * RECENT_MS;
  const recent = createRecentAnswers<Answered>(now);
  const identityOf = createIdentity({
    ...context,
    maxAgeMs: isRemembered ? maxAgeMs - RECENT_MS : maxAgeMs,
  });

  async function answer(host: GateHost, cookie: string) {
    const key = `${host.clientId} ${cookie}`;
    // Before the session: one that changes meanwhile is judged again.
    const version = await sessions.versionOf(cookie);
    if (version === undefined) return undefined;
    const known = recent.get(key);
    if (known?.version === version) return known.headers;
    const headers = await identityOf(host, cookie);
    if (headers !== undefined && isRemembered) {
      recent.set(key, { version, headers });
    }
    return headers;
  }

  return {
    method: "GET",
    path: "/forward-auth",
    unlimited: true,
    handle: (exchange) =>
      exchange.waitFor("forward-auth", async () => {
        const host = gateHostOf(exchange.request, hosts);
        const cookie = host && cookieAt(host, exchange, context);
        const headers = host !== undefined && cookie !== undefined
          ? await answer(host, cookie)
          : undefined;
        return headers !== undefined
          ? exchange.reply(null, { headers })
          : toLogin(exchange, context) ?? exchange.refuse(unauthorized());
      }),
  };
}

/** What names the session at a host. */
function cookieAt(
  host: GateHost,
  { request: { headers } }: Exchange,
  { sessionCookie, gateCookie }: GateContext,
): string | undefined {
  return (host.isOwn ? sessionCookie : gateCookie(host)).read(headers);
}

/** Makes the question who a cookie is, if the issuer still vouches for them. */
function createIdentity(
  context: GateContext,
): (host: GateHost, cookie: string) => Promise<Identity | undefined> {
  const { sessions, nameOf } = context;
  const vouchedFor = createPatientQuestion(context);
  return async ({ isOwn, clientId }, cookie) => {
    const session = isOwn
      ? await sessions.find(cookie)
      : await sessions.findAdmitted(cookie, clientId);
    if (session === undefined || !isGranted(session)) return undefined;
    const standing = await vouchedFor(session);
    if (standing === undefined) return undefined;
    const { subject } = session;
    return await identityHeaders({ subject, standing }, nameOf);
  };
}

/** Only a page that a person opens: a script could do nothing with ours. */
function toLogin(
  exchange: Exchange,
  { hosts, issuer }: GateContext,
): Response | undefined {
  const { headers, url } = exchange.request;
  const isPage = ["GET", null].includes(headers.get("x-forwarded-method")) &&
    ["navigate", null].includes(headers.get("sec-fetch-mode"));
  if (!isPage || !new URL(url).searchParams.has("redirect")) return undefined;
  const origin = gateHostOf(exchange.request, hosts)?.origin;
  const path = headers.get("x-forwarded-uri") ?? "/";
  if (origin === undefined || !path.startsWith("/")) return undefined;
  const address = readReturnAddress(origin + path, hosts);
  return address && sendTo(exchange, gateLoginUrl(issuer, address.href));
}

function unauthorized(): SigError {
  return new SigError(
    "unauthorized",
    "Cannot tell who asks: nobody is logged in",
    {
      context: { hint: "Log in at /gate/login?rd=ADDRESS." },
    },
  );
}
