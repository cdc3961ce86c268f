/** Answering only those whom an issuer vouches for. @module */

import {
  createConsumer,
  type FetchPolicy,
  fetchPolicyOf,
  locateIssuer,
} from "@sig/consumer";
import { isSigError, parseRequirement, SigError } from "@sig/core";
import type { Context, MiddlewareHandler } from "hono";
import { requireRelationship as judge } from "../login/relationship.ts";
import { requireDuration } from "./options.ts";
import { refuse, unauthorized } from "./refusal.ts";
import type { SigEnv } from "./sig_session.ts";

/** Options of {@linkcode requireRelationship}. */
export interface RequireRelationshipOptions extends FetchPolicy {
  /** A did:web, a host, or the https URL of a `sig.json`. */
  readonly issuer: string;
  /** What the person's relationship must meet: `key=value`, each. */
  readonly require: readonly string[];
  /** Milliseconds that the issuer's word may be old; 60,000 unless told. */
  readonly maxAgeMs?: number;
  /** Who asks; `c.get("sig")` of `sigLogin` unless told. Never a header's word. */
  readonly subject?: (c: Context<SigEnv>) => string | undefined;
  /**
   * Where a page that nobody is logged in for sends people, with the parameter
   * `rd`: such as `/sig/login`. Unless told, it is 401 for pages too.
   */
  readonly loginAt?: string;
  /** The clock; `() => new Date()` unless told. */
  readonly now?: () => Date;
}

const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * Middleware that lets only those pass for whom an issuer vouches. The others
 * get problem details: 401 `unauthorized` where nobody is logged in, 403
 * `relationship_denied` with its `reasons`, and 503 where the issuer can't be
 * asked, which is neither yes nor no.
 *
 * @example
 * ```ts
 * import { requireRelationship, type SigEnv } from "@sig/web/hono";
 * import { Hono } from "hono";
 * import { assertEquals } from "@std/assert";
 *
 * const app = new Hono<SigEnv>();
 * app.use(
 *   "/deploy/*",
 *   requireRelationship({ issuer: "acme.example", require: ["role=deploy"] }),
 * );
 * app.post("/deploy/:service", (c) => c.text("deployed"));
 *
 * const response = await app.request("/deploy/shop", { method: "POST" });
 * assertEquals(response.status, 401);
 * ```
 *
 * @throws {SigError} `invalid_requirement`, `requirements_empty`;
 * `invalid_request` for a `maxAgeMs` that is no time; those of `locateIssuer` for
 * an issuer that is none.
 */
export function requireRelationship(
  options: RequireRelationshipOptions,
): MiddlewareHandler<SigEnv> {
  const { loginAt, maxAgeMs = DEFAULT_MAX_AGE_MS } = options;
  // What is required is settled now: the list may be the caller's to change.
  const require = [...options.require];
  requireDuration("maxAgeMs", maxAgeMs);
  if (require.length === 0) {
    throw new SigError(
      "requirements_empty",
      "Cannot require a relationship: nothing is required",
      { context: { hint: "For example: relationship=employee." } },
    );
  }
  for (const each of require) parseRequirement(each);
  const policy = fetchPolicyOf(options);
  const issuer = locateIssuer(options.issuer, policy).expectedIssuer;
  const now = options.now ?? (() => new Date());
  const consumer = createConsumer({
    ...policy,
    issuers: [issuer],
    maxAge: maxAgeMs,
    backend: "node",
    now,
  });
  const subjectOf = options.subject ??
    ((c: Context<SigEnv>) => c.get("sig")?.subject);
  return async (c, next) => {
    const subject = subjectOf(c);
    if (subject === undefined) {
      return loginAt !== undefined && isPage(c.req.raw)
        ? c.redirect(loginUrl(loginAt, c.req.url), 303)
        : refuse(unauthorized());
    }
    try {
      judge(await consumer.check(issuer, { subject, require }), subject);
    } catch (error) {
      if (isSigError(error, "relationship_denied")) return refuse(error);
      // Whatever kept the issuer from being asked: it is neither yes nor no.
      return refuse(error, isSigError(error) ? 503 : 500);
    }
    await next();
  };
}

/** What a person opened, and not what a script asked for. */
export function isPage({ headers, method }: Request): boolean {
  const mode = headers.get("sec-fetch-mode");
  return method === "GET" &&
    (mode === null
      ? (headers.get("accept") ?? "").includes("text/html")
      : mode === "navigate");
}

/** A page of our own, which knows where it leads back to. */
export function loginUrl(loginAt: string, from: string): string {
  const { pathname, search } = new URL(from);
  return `${loginAt}?${new URLSearchParams({ rd: pathname + search })}`;
}
