/** Answering only those whom an issuer vouches for. @module */

import type { FetchPolicy } from "@sig/consumer";
import { fetchPolicyOf, locateIssuer } from "@sig/consumer/internal";
import { isSigError, SigError, toProblem } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Context, MiddlewareHandler } from "hono";
import {
  createLoginGate,
  type MatchedRelationship,
  requireRelationship as judge,
} from "../login/relationship.ts";

/** Options of {@linkcode requireRelationship}. */
export interface RequireRelationshipOptions extends FetchPolicy {
  /** A did:web, a host, or the https URL of a `sig.json`. */
  readonly issuer: string;
  /** What the person's relationship must meet: `key=value`, each. */
  readonly require: readonly string[];
  /** Milliseconds that the issuer's word may be old (default: 60,000). */
  readonly maxAgeMs?: number;
  /** The subject (default: `c.get("sig")` of `sigLogin`). Never take it from a header. */
  readonly subject?: (c: Context<SigEnv>) => string | undefined;
  /**
   * Where a page that nobody is logged in for sends people, with the parameter
   * `rd`: such as `/sig/login`. Without it, pages get 401 too.
   */
  readonly loginAt?: string;
  /** The clock (default: `() => new Date()`). */
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
 * `invalid_request` for a `maxAgeMs` that is not a duration; those of
 * `locateIssuer` for an invalid issuer.
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
  const policy = fetchPolicyOf(options);
  const did = locateIssuer(options.issuer, policy).expectedIssuer;
  const now = options.now ?? (() => new Date());
  const issuers = [{ did, policy }];
  const { ask } = createLoginGate({ issuers, require, maxAgeMs, now });
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
      judge((await ask!(subject)).answer, subject);
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
function loginUrl(loginAt: string, from: string): string {
  const { pathname, search } = new URL(from);
  return `${loginAt}?${new URLSearchParams({ rd: pathname + search })}`;
}

/** Who is logged in. */
export interface SigSession {
  /** The DID of the key that signed. */
  readonly subject: string;
  /**
   * The same for all keys of a person (docs/protocol.md §4.1): what an account
   * belongs to.
   */
  readonly person: string;
  /** What the issuer says of them; null where `sigLogin` requires nothing. */
  readonly relationship: MatchedRelationship | null;
  /** RFC 3339 UTC; when the person signed. */
  readonly signedInAt: string;
}

/** What `sigLogin` gives to the handlers of a Hono application. */
export interface SigEnv {
  /** Read by `c.get("sig")`. */
  Variables: {
    /** Undefined: nobody is logged in. */
    sig: SigSession | undefined;
  };
}

/**
 * The response to a request that failed; without details unless it is a `SigError`.
 *
 * @param status (default: the error's own)
 */
export function refuse(error: unknown, status?: number): Response {
  const known = toProblem(error);
  const problem = { ...known, status: status ?? known.status };
  const headers = new Headers({
    "content-type": "application/problem+json",
    "cache-control": "no-store",
  });
  const { retry_after_seconds: seconds } = known;
  if (typeof seconds === "number") {
    headers.set("retry-after", String(Math.ceil(seconds)));
  } else if (problem.status === 503) headers.set("retry-after", "5");
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers,
  });
}

/** Nobody is logged in. */
export function unauthorized(): SigError {
  return new SigError(
    "unauthorized",
    "Cannot answer: nobody is logged in",
    { context: { hint: "Log in first." } },
  );
}

/** An error that keeps anyone from logging in, with what helps. */
export function invalidLogin(why: string, hint: string): SigError {
  return new SigError("invalid_request", `Cannot log anyone in: ${why}`, {
    context: { hint },
  });
}

/**
 * Refuses what is not a duration, such as `Number(undefined)`, with which no issuer would
 * be asked again.
 *
 * @throws {SigError} `invalid_request` unless it is finite, and 0 or more.
 */
export function requireDuration(name: string, ms: number): void {
  if (Number.isFinite(ms) && ms >= 0) return;
  throw invalidLogin(
    `${name} must be milliseconds, 0 or more, current value is ${ms}`,
    "For example: 30000.",
  );
}

/**
 * Refuses an issuer that nothing is required of, and so would never be asked.
 *
 * @throws {SigError} `invalid_request`
 */
export function requireQuestion(
  issuer: string | undefined,
  require: readonly string[] | undefined,
): void {
  if (issuer === undefined || (require ?? []).length > 0) return;
  throw invalidLogin(
    `${quote(issuer)} is named, and the application requires nothing of it`,
    'For example: require: ["relationship=employee"].',
  );
}
