/** The question of a proxy: who is signed in? @module */

import { problemResponse, type ServiceEnv } from "@sig/api/http";
import type { Context, Hono } from "hono";
import { SigError } from "@sig/core";
import type { MatchedRelationship } from "../login/relationship.ts";
import { groupsOf, type NameOf, shownNameOf } from "../openid/claims.ts";
import { refuseUnavailable, sendTo } from "../openid/pages.ts";
import { isIssuerUnavailable } from "../sessions/recheck.ts";
import { personOfSession } from "../sessions/session.ts";
import {
  type GateContext,
  type GateHost,
  gateHostOf,
  gateLoginUrl,
  readReturnAddress,
} from "./hosts.ts";

/** An answer to a proxy. */
interface Answered {
  /** The version of the session's record: with another one it is asked again. */
  readonly version: string;
  /** Who it is. */
  readonly headers: Identity;
}

type Identity = [string, string][];

/** Milliseconds for which the same is answered, at most. */
const RECENT_MS = 1_000;
/** Answers that are kept for one second; with more it starts again. */
const MAX_RECENT = 10_000;

/**
 * `GET /forward-auth`: 200 with who it is, else 401. With `?redirect`, for proxies
 * that pass our answer on as it is, a page is sent to the login instead.
 *
 * An issuer that gives no answer is not a deny: the session continues for the
 * grace period, and after that the answer is 503.
 *
 * A page is many requests at once. So the same cookie gets the same answer in the
 * same second of the clock, while the store has the session as it was: its end
 * counts at once, and so does the end of a relationship, which nearly always ends
 * with a second. The issuer's state may be a second younger for that.
 */
export function addForwardAuth(
  app: Hono<ServiceEnv>,
  context: GateContext,
): void {
  const { hosts, sessions, maxAgeMs, now, recheckOrGrace, nameOf } = context;
  const isRemembered = maxAgeMs >= 2 * RECENT_MS;
  const askedMs = isRemembered ? maxAgeMs - RECENT_MS : maxAgeMs;
  let second = NaN;
  const recent = new Map<string, Answered>();

  async function answer(host: GateHost, cookie: string) {
    const current = Math.floor(now().getTime() / RECENT_MS);
    if (current !== second || recent.size >= MAX_RECENT) recent.clear();
    second = current;
    const key = `${host.clientId} ${cookie}`;
    // Before the session: one that changes meanwhile is asked about again.
    const version = await sessions.versionOf(cookie);
    if (version === undefined) return undefined;
    const known = recent.get(key);
    if (known?.version === version) return known.headers;
    const headers = await identityOf(host, cookie);
    if (headers !== undefined && isRemembered && second === current) {
      recent.set(key, { version, headers });
    }
    return headers;
  }

  /** Who a cookie is, if the issuer still confirms it. */
  async function identityOf({ isOwn, clientId }: GateHost, cookie: string) {
    const session = isOwn
      ? await sessions.find(cookie)
      : await sessions.findByHostCookie(cookie, clientId);
    if (session === undefined) return undefined;
    const relationship = await recheckOrGrace(session, { maxAgeMs: askedMs });
    if (relationship === undefined) return undefined;
    const subject = personOfSession(session);
    return identityHeaders({ subject, relationship }, nameOf);
  }

  app.get(
    "/forward-auth",
    (c) =>
      c.get("budget").waitFor("forward-auth", async () => {
        const host = gateHostOf(c.req.raw, hosts);
        const cookie = host && cookieAt(host, c, context);
        try {
          const headers = host !== undefined && cookie !== undefined
            ? await answer(host, cookie)
            : undefined;
          if (headers !== undefined) return identified(headers);
        } catch (error) {
          if (!isIssuerUnavailable(error)) throw error;
          return refuseUnavailable(c, error);
        }
        return toLogin(c, context) ?? problemResponse(c, unauthorized());
      }),
  );
}

/** Header by header: a list for the constructor costs five times that. */
function identified(headers: Identity): Response {
  const response = new Response(null);
  for (const [name, value] of headers) response.headers.set(name, value);
  return response;
}

/** What identifies the session at a host. */
function cookieAt(
  host: GateHost,
  { req: { raw: { headers } } }: Context<ServiceEnv>,
  { sessionCookie }: GateContext,
): string | undefined {
  return (host.isOwn ? sessionCookie : host.cookie).read(headers);
}

/** Only a page that a person opens: a script could do nothing with ours. */
function toLogin(
  c: Context<ServiceEnv>,
  { hosts, issuer }: GateContext,
): Response | undefined {
  const { headers, url } = c.req.raw;
  const isPage = ["GET", null].includes(headers.get("x-forwarded-method")) &&
    ["navigate", null].includes(headers.get("sec-fetch-mode"));
  if (!isPage || !new URL(url).searchParams.has("redirect")) return undefined;
  const origin = gateHostOf(c.req.raw, hosts)?.origin;
  const path = headers.get("x-forwarded-uri") ?? "/";
  if (origin === undefined || !path.startsWith("/")) return undefined;
  const address = readReturnAddress(origin + path, hosts);
  return address && sendTo(gateLoginUrl(issuer, address.href));
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

/** The headers that say who it is: the person's root, groups with commas, a name. */
export function identityHeaders(
  { subject, relationship }: {
    readonly subject: string;
    readonly relationship: MatchedRelationship;
  },
  nameOf: NameOf | undefined,
): Identity {
  return [
    ["remote-user", subject],
    [
      "remote-groups",
      asHeader(groupsOf(relationship).filter(arrivesWhole).join(",")),
    ],
    ["remote-name", asHeader(shownNameOf(subject, nameOf))],
  ];
}

// deno-lint-ignore no-control-regex -- they are what must go
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/**
 * Whether a group arrives as it is: one that lost a space or a control character
 * on its way would be another group.
 */
function arrivesWhole(group: string): boolean {
  return group === group.trim() && group.isWellFormed() &&
    !CONTROL.test(group);
}

/** Printable ASCII that neither begins nor ends with a space. */
const PLAIN = /^[!-~]+(?: +[!-~]+)*$/;

/** The bytes of its UTF-8, each as a character: what a header holds. */
function asHeader(text: string): string {
  if (PLAIN.test(text)) return text;
  // Trimmed before: a byte of a letter may look like a space.
  const shown = text.replaceAll(new RegExp(CONTROL, "g"), " ").trim();
  const bytes = new TextEncoder().encode(shown);
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
