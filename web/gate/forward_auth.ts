/**
 * `GET /forward-auth`, which proxies call for each request (docs/gate.md).
 *
 * @module
 */

import { problemResponse, type ServiceEnv } from "@sig/api/internal/http";
import type { Context, Hono } from "hono";
import { SigError } from "@sig/core";
import { equalInConstantTime } from "@sig/jose/internal";
import { splitToken } from "../store/digest.ts";
import type { MatchedRelationship } from "../login/relationship.ts";
import { groupsOf, type NameOf, shownNameOf } from "../sign_in/person.ts";
import { sendTo } from "../sign_in/pages.ts";
import { gaveNoAnswer } from "../sessions/recheck.ts";
import {
  type GateContext,
  type GateHost,
  gateHostOf,
  gateLoginUrl,
  hostCookiesOf,
  readReturnAddress,
} from "./hosts.ts";

/** The identity headers of a response. */
type Identity = [string, string][];

/** Milliseconds for which an answer is cached. */
const RECENT_MS = 1_000;
/** Maximum number of cached answers; the cache is cleared when it is full. */
const MAX_RECENT = 10_000;

/**
 * `GET /forward-auth`: responds with 200 and the person's identity, else with
 * 401. With `?redirect`, for proxies that forward the response unchanged, pages
 * are redirected to the login instead.
 *
 * An issuer that does not respond is not a deny: the session continues for the
 * grace period; after that the response is 503.
 *
 * Opening a page causes many requests. So the answer for a cookie is cached
 * until the end of the current second, unless the session's record changes: the
 * end of a session takes effect immediately, and so does the end of a
 * relationship, which is nearly always at a full second. The maximum age of the
 * issuer's state is one second shorter in return.
 */
export function addForwardAuth(
  app: Hono<ServiceEnv>,
  context: GateContext,
): void {
  const { hosts, sessions, maxAgeMs, now, recheckOrGrace, nameOf } = context;
  const isRemembered = maxAgeMs >= 2 * RECENT_MS;
  const askedMs = isRemembered ? maxAgeMs - RECENT_MS : maxAgeMs;
  let second = NaN;
  // A changed version of the session's record invalidates an answer.
  const recent = new Map<string, { version: string; headers: Identity }>();

  async function answer(host: GateHost, cookie: string) {
    const current = Math.floor(now().getTime() / RECENT_MS);
    if (current !== second || recent.size >= MAX_RECENT) recent.clear();
    second = current;
    const key = `${host.clientId} ${cookie}`;
    // Read before the session, so that a concurrent change invalidates the
    // answer.
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

  /** Returns the identity of a cookie if the issuer still confirms it. */
  async function identityOf(host: GateHost, cookie: string) {
    const session = host.isOwn
      ? await sessions.find(cookie)
      : await findByHostCookie(host, cookie);
    if (session === undefined) return undefined;
    const relationship = await recheckOrGrace(session, { maxAgeMs: askedMs });
    if (relationship === undefined) return undefined;
    return identityHeaders(session.person, relationship, nameOf);
  }

  async function findByHostCookie(host: GateHost, cookie: string) {
    const token = splitToken(cookie);
    const session = token && await sessions.get(token.id);
    return session && hostCookiesOf(context, host, session)
        .some((each) => equalInConstantTime(each, cookie))
      ? session
      : undefined;
  }

  app.get("/forward-auth", async (c) => {
    const host = gateHostOf(c.req.raw, hosts);
    const place = host?.isOwn ? context.sessionCookie : host?.cookie;
    const cookie = place?.read(c.req.raw.headers);
    try {
      const headers = host !== undefined && cookie !== undefined
        ? await answer(host, cookie)
        : undefined;
      if (headers !== undefined) return identified(headers);
    } catch (error) {
      if (!gaveNoAnswer(error)) throw error;
      return problemResponse(c, error, 503);
    }
    return toLogin(c, host, context) ??
      problemResponse(
        c,
        new SigError("unauthorized", {
          action: "identify the user",
          reason: "nobody is logged in",
          context: { hint: "Log in at /gate/login?rd=ADDRESS." },
        }),
      );
  });
}

/**
 * Setting headers one by one is five times as fast as passing a list to the
 * constructor.
 */
function identified(headers: Identity): Response {
  const response = new Response(null);
  for (const [name, value] of headers) response.headers.set(name, value);
  return response;
}

/**
 * Returns a redirect to the login, for pages only: a script could not use the
 * login page.
 */
function toLogin(
  c: Context<ServiceEnv>,
  host: GateHost | undefined,
  { hosts, issuer }: GateContext,
): Response | undefined {
  const { headers, url } = c.req.raw;
  const isPage = ["GET", null].includes(headers.get("x-forwarded-method")) &&
    ["navigate", null].includes(headers.get("sec-fetch-mode"));
  if (!isPage || !new URL(url).searchParams.has("redirect")) return undefined;
  const path = headers.get("x-forwarded-uri") ?? "/";
  if (host === undefined || !path.startsWith("/")) return undefined;
  const address = readReturnAddress(host.origin + path, hosts);
  return address && sendTo(gateLoginUrl(issuer, address.href));
}

/**
 * Returns the identity headers: the person's root DID, comma-separated groups,
 * and the display name.
 */
export function identityHeaders(
  subject: string,
  relationship: MatchedRelationship,
  nameOf: NameOf | undefined,
): Identity {
  const groups = groupsOf(relationship).filter(arrivesWhole);
  return [
    ["remote-user", subject],
    ["remote-groups", asHeader(groups.join(","))],
    ["remote-name", asHeader(shownNameOf(subject, nameOf))],
  ];
}

// deno-lint-ignore no-control-regex -- they are what must go
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

/**
 * Whether a header transports a group unchanged. Without a space or control
 * character it would be a different group.
 */
function arrivesWhole(group: string): boolean {
  return group === group.trim() && group.isWellFormed() &&
    !CONTROL.test(group);
}

/** Matches printable ASCII without a space at either end. */
const PLAIN = /^[!-~]+(?: +[!-~]+)*$/;

/**
 * Returns the UTF-8 bytes of a text, each as one character, as headers require.
 */
function asHeader(text: string): string {
  if (PLAIN.test(text)) return text;
  // Trimmed before encoding, since a byte of a letter may equal a space.
  const shown = text.replaceAll(new RegExp(CONTROL, "g"), " ").trim();
  const bytes = new TextEncoder().encode(shown);
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
