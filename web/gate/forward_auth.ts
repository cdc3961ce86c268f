/** The question of a proxy: who is there? @module */

import type { Exchange, Route } from "@sig/api/http";
import { SigError } from "@sig/core";
import { sendTo } from "../openid/pages.ts";
import { createPatientQuestion } from "../sessions/patient_question.ts";
import { type GateContext, gateHostOf, isGranted } from "./gate_context.ts";
import { gateLoginUrl } from "./gate_login.ts";
import { identityHeaders } from "./identity_headers.ts";
import { readReturnAddress } from "./return_address.ts";

/**
 * `GET /forward-auth`: 200 with who it is, else 401. With `?redirect`, for proxies
 * that pass our answer on as it is, a page is sent to the login instead.
 *
 * An issuer that can't be asked is no deny: who is logged in goes on as they
 * were, until their session is over.
 */
export function createForwardAuth(context: GateContext): Route {
  const { hosts, sessions, sessionCookie, gateCookie, nameOf } = context;
  const vouchedFor = createPatientQuestion(context);
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
        const standing = session && isGranted(session)
          ? await vouchedFor(session)
          : undefined;
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
