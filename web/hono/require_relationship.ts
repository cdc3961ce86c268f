/** Middleware that requires a relationship with an issuer. @module */

import { problemResponse } from "@sig/api/internal/http";
import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, locateIssuer } from "@sig/consumer/internal";
import {
  isSigError,
  parseRequirement,
  parseRequirements,
  SigError,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Context, Env, MiddlewareHandler } from "hono";
import {
  createLoginGate,
  type MatchedRelationship,
  requireRelationship as judge,
} from "../login/relationship.ts";

/**
 * Options of {@linkcode requireRelationship}; `E` is the environment of the
 * application.
 */
export interface RequireRelationshipOptions<E extends Env = SigEnv>
  extends FetchPolicy {
  /** The issuer: a did:web, a host, or the https URL of a `sig.json`. */
  readonly issuer: string;
  /**
   * Requirements that the person's relationship must meet: each `key=value`, or
   * an object with one member, such as `{ role: "deploy" }`.
   */
  readonly require: readonly (string | { readonly [key: string]: string })[];
  /** Maximum age of the issuer's state in milliseconds (default: 60,000). */
  readonly maxAgeMs?: number;
  /**
   * Milliseconds for which an older state answers while the issuer can't be
   * reached (default: 0).
   */
  readonly graceMs?: number;
  /**
   * Returns the subject of a request (default: that of `c.get("sig")`, which
   * `sigLogin` sets). Never take it from a header.
   */
  readonly subject?: (c: Context<E>) => string | undefined;
  /**
   * The path that pages redirect to if nobody is logged in, such as
   * `/sig/login`; it gets the parameter `rd` (default: pages get 401 too).
   */
  readonly loginAt?: string;
  /** The clock (default: `() => new Date()`). */
  readonly now?: () => Date;
}

const DEFAULT_MAX_AGE_MS = 60_000;

/**
 * Returns middleware that passes requests on only if the subject has the
 * required relationship. Other requests get problem details: 401 `unauthorized`
 * if nobody is logged in, 403 `relationship_denied` with its `reasons` and the
 * requirements that are not met, and 503 if the issuer can't be reached.
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
 * @example With the application's own variables
 * ```ts
 * import { requireRelationship } from "@sig/web/hono";
 * import { Hono } from "hono";
 * import { assertEquals } from "@std/assert";
 *
 * type Own = { Variables: { user?: { did: string } } };
 * const staff = requireRelationship<Own>({
 *   issuer: "acme.example",
 *   require: [{ role: "deploy" }],
 *   subject: (c) => c.get("user")?.did,
 * });
 * const app = new Hono<Own>().get("/", staff, (c) => c.text("welcome"));
 * assertEquals((await app.request("/")).status, 401);
 * ```
 *
 * @throws {SigError} `invalid_requirement`, `requirements_empty`;
 * `invalid_request` for a `maxAgeMs` that is not a duration; the codes of
 * `locateIssuer` for an invalid issuer.
 */
export function requireRelationship<E extends Env = SigEnv>(
  options: RequireRelationshipOptions<E>,
): MiddlewareHandler<E> {
  const { loginAt, maxAgeMs = DEFAULT_MAX_AGE_MS, graceMs = 0 } = options;
  requireDuration("maxAgeMs", maxAgeMs);
  requireDuration("graceMs", graceMs);
  const require = parseRequirements(options.require)
    .map(parseRequirement).map(({ key, value }) => `${key}=${value}`);
  const policy = fetchPolicyOf(options);
  const did = locateIssuer(options.issuer, policy).expectedIssuer;
  const now = options.now ?? (() => new Date());
  const issuers = [{ did, policy }];
  const { ask } = createLoginGate({ issuers, require, maxAgeMs, now });
  const subjectOf = options.subject ??
    ((c: Context<E>) => (c.var as Partial<SigEnv["Variables"]>).sig?.subject);
  return async (c, next) => {
    const subject = subjectOf(c);
    if (subject === undefined) {
      return loginAt !== undefined && isPage(c.req.raw)
        ? c.redirect(loginUrl(loginAt, c.req.url), 303)
        : refuse(c, unauthorized());
    }
    try {
      judge((await ask!(subject, { graceMs })).answer, subject, "answer");
    } catch (error) {
      // No answer from the issuer is neither an allow nor a deny.
      const isDeny = isSigError(error, "relationship_denied");
      const status = isSigError(error) ? 503 : 500;
      return refuse(c, error, isDeny ? undefined : status);
    }
    await next();
  };
}

/** Whether the request opens a page, in contrast to a request of a script. */
function isPage({ headers, method }: Request): boolean {
  const mode = headers.get("sec-fetch-mode");
  return method === "GET" &&
    (mode === null
      ? (headers.get("accept") ?? "").includes("text/html")
      : mode === "navigate");
}

/** Returns the address of the login page, which leads back to `from`. */
function loginUrl(loginAt: string, from: string): string {
  const { pathname, search } = new URL(from);
  return `${loginAt}?${new URLSearchParams({ rd: pathname + search })}`;
}

/** The session of the person who is logged in. */
export interface SigSession {
  /** The DID of the key that signed. */
  readonly subject: string;
  /**
   * The DID of the person, the same for all of their keys (docs/protocol.md
   * §4.1). Use it as the key of an account.
   */
  readonly person: string;
  /** The relationship with the issuer; null where `sigLogin` requires none. */
  readonly relationship: MatchedRelationship | null;
  /** Time of the login, RFC 3339 UTC. */
  readonly signedInAt: string;
}

/** The Hono environment that `sigLogin` provides. */
export interface SigEnv {
  /** Variables of the context. */
  Variables: {
    /** The session, from `c.get("sig")`; undefined if nobody is logged in. */
    sig: SigSession | undefined;
  };
}

/**
 * Returns the response to a failed request. Errors other than `SigError` are
 * not described.
 *
 * @param status The HTTP status (default: that of the error).
 */
export function refuse(c: Context, error: unknown, status?: number): Response {
  const response = problemResponse(c, error, status);
  const { headers } = response;
  headers.set("cache-control", "no-store");
  // The login is a cookie.
  headers.delete("www-authenticate");
  if (response.status === 503 && !headers.has("retry-after")) {
    headers.set("retry-after", "5");
  }
  return response;
}

/** Returns the error of a request without a login. */
export function unauthorized(): SigError {
  return new SigError("unauthorized", {
    action: "answer",
    reason: "nobody is logged in",
    context: { hint: "Log in first." },
  });
}

/** Returns the error of invalid login options. */
export function invalidLogin(why: string, hint: string): SigError {
  return new SigError("invalid_request", {
    action: "log anyone in",
    reason: why,
    context: { hint },
  });
}

/**
 * Rejects an invalid duration. With NaN, such as `Number(undefined)`, the
 * issuer would never be queried again.
 *
 * @throws {SigError} `invalid_request` unless `ms` is finite and at least 0.
 */
export function requireDuration(name: string, ms: number): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  throw invalidLogin(
    `${name} must be milliseconds, 0 or more, current value is ${ms}`,
    "For example: 30000.",
  );
}

/**
 * Rejects an issuer without requirements, which would never be queried.
 *
 * @throws {SigError} `invalid_request`
 */
export function requireQuestion(
  issuer: string | undefined,
  require: readonly string[] | undefined,
): void {
  if (issuer === undefined || (require ?? []).length > 0) return;
  throw invalidLogin(
    `${quote(issuer)} is given without requirements`,
    'For example: require: ["relationship=employee"].',
  );
}
