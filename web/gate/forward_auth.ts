/** The question of a proxy: who is there? @module */

import type { Exchange, Route } from "@sig/api/http";
import { isSigError, SigError } from "@sig/core";
import type { Standing } from "../login/login_gate.ts";
import { sendTo } from "../openid/pages.ts";
import type { Session } from "../sessions/session.ts";
import { type GateContext, gateHostOf } from "./gate_context.ts";
import { gateLoginUrl } from "./gate_login.ts";
import { identityHeaders } from "./identity_headers.ts";
import { readReturnAddress } from "./return_address.ts";

/** Milliseconds in which an issuer that was silent is not asked again. */
const QUIET_MS = 5_000;

/** Milliseconds that a page of an application waits for the issuer. */
const PATIENCE_MS = 3_000;

/**
 * `GET /forward-auth`: 200 with who it is, else 401. With `?redirect`, for proxies
 * that pass our answer on as it is, a page is sent to the login instead.
 *
 * An issuer that can't be asked is no deny: who is logged in goes on as they
 * were, until their session is over.
 */
export function createForwardAuth(context: GateContext): Route {
  const { hosts, sessions, sessionCookie, gateCookie, nameOf } = context;
  const vouchedFor = createQuestion(context);
  return {
    method: "GET",
    path: "/forward-auth",
    handle: (exchange) =>
      exchange.waitFor("forward-auth", async () => {
        const { headers } = exchange.request;
        const host = gateHostOf(exchange.request, hosts);
        const session = host === undefined
          ? undefined
          : host.isOwn
          ? await sessions.find(sessionCookie.read(headers))
          : await sessions.findAdmitted(
            gateCookie.read(headers),
            host.clientId,
          );
        const standing = session && await vouchedFor(session);
        if (session === undefined || standing === undefined) {
          return toLogin(exchange, context) ?? exchange.refuse(unauthorized());
        }
        const { subject } = session;
        return exchange.reply(null, {
          headers: await identityHeaders({ subject, standing }, nameOf),
        });
      }),
  };
}

/** Asks the issuer, unless it was silent a moment ago. */
function createQuestion(
  { assess, maxAgeMs, now }: GateContext,
): (session: Session) => Promise<Standing | undefined> {
  let quietUntilMs = -Infinity;
  return async (session) => {
    const atMs = now().getTime();
    // A clock that was set back must not make it quiet for long.
    if (atMs < quietUntilMs && quietUntilMs <= atMs + QUIET_MS) {
      return session.standing;
    }
    try {
      return await within(
        PATIENCE_MS,
        assess(session, undefined, maxAgeMs / 1000),
      );
    } catch (error) {
      if (!isSigError(error)) throw error;
      quietUntilMs = now().getTime() + QUIET_MS;
      return session.standing;
    }
  };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new SigError("fetch_timeout", "Cannot ask issuer: it is slow"));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
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
