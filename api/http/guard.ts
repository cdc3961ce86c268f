/** The middleware that both servers share. @module */

import { SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import type { Context, MiddlewareHandler } from "hono";
import { cors } from "hono/cors";
import { routePath } from "hono/route";
import { requireHost, requireSameSite, splitUrl } from "./access.ts";
import { createClientAddress, createRateLimiter } from "./client.ts";
import { Capacity, RequestBudget } from "./limits.ts";
import type { GuardOptions, ServiceOptions } from "./options.ts";
import { problemResponse } from "./send.ts";
import { describeThrown, type RequestLogEntry } from "./request_log.ts";

/** The Hono environment of routes behind the guard. */
export interface ServiceEnv {
  /** What the platform knows of the connection. */
  Bindings: object;
  /** The variables that the guard sets. */
  Variables: {
    /** The client's `X-Request-ID`, or a new one. */
    requestId: string;
    /** The resources that the request uses. */
    budget: RequestBudget;
    /** The error code of the response, if it is a problem. */
    code: string | undefined;
    /** The unexpected error, for the log only. */
    thrown: unknown;
  };
}

/** The health check, which is answered under any load. */
export const HEALTH_PATH = "/healthz";
/** The readiness check: whether the service's stores and issuers answer. */
export const READY_PATH = "/readyz";

/** Seconds of `Retry-After` if the error has none. */
const RETRY_AFTER_SECONDS = 5;

/** Prevents loading and framing of responses that are not pages. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Browser features that no page of this project needs. */
const UNUSED_FEATURES = (
  "accelerometer autoplay bluetooth camera display-capture encrypted-media " +
  "fullscreen gamepad geolocation gyroscope hid idle-detection magnetometer " +
  "microphone midi payment picture-in-picture screen-wake-lock serial usb " +
  "web-share xr-spatial-tracking"
).split(" ");

/**
 * Headers of a page in addition to its content security policy: no referrer to
 * other sites, no shared process, no framing and no devices.
 *
 * @example
 * ```ts
 * import { PAGE_HEADERS } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 *
 * const { "referrer-policy": policy } = Object.fromEntries(PAGE_HEADERS);
 * assertEquals(policy, "no-referrer");
 * ```
 */
export const PAGE_HEADERS: readonly (readonly [string, string])[] = Object
  .freeze([
    ["referrer-policy", "no-referrer"],
    ["cross-origin-opener-policy", "same-origin"],
    ["cross-origin-resource-policy", "same-origin"],
    ["cross-origin-embedder-policy", "require-corp"],
    ["x-frame-options", "DENY"],
    ["x-permitted-cross-domain-policies", "none"],
    [
      "permissions-policy",
      UNUSED_FEATURES.map((feature) => `${feature}=()`).join(", "),
    ],
  ]);

/**
 * Creates the middleware: before the route it sets the request id and checks
 * host, origin, CORS, rate and limits; after it, it sets headers and writes the
 * log entry.
 *
 * @throws {SigError} `invalid_request` for an invalid host, origin or proxy.
 * @throws {RangeError} for an invalid rate limit.
 */
export function createGuard(
  options: ServiceOptions,
): MiddlewareHandler<ServiceEnv> {
  const { service } = options;
  const unlimited = new Set(options.unlimited);
  const crossSite = new Set(options.crossSite);
  const now = options.now ?? (() => new Date());
  const isAllowed = createOriginCheck(options);
  const { corsOrigins = [], allowOrigin, log, telemetry, isWaiting } = options;
  const answerCors = corsOrigins.length > 0 || allowOrigin !== undefined
    ? createCors(isAllowed)
    : undefined;
  const checkHost = requireHost(options.hosts);
  const clientOf = createClientAddress(options.trustProxy);
  const countRequest = options.rateLimit &&
    createRateLimiter(options.rateLimit);
  const capacity = new Capacity(options);

  /**
   * Checks a request before its route.
   *
   * @throws {SigError} if the request is rejected.
   */
  const admit = (
    c: Context<ServiceEnv>,
    receivedAt: Date,
    route: string | undefined,
  ) => {
    const { path, raw } = c.req;
    const budget = c.get("budget");
    if (!crossSite.has(path)) requireSameSite(raw, isAllowed);
    if (path === HEALTH_PATH || path === READY_PATH) return;
    // All clients without a known address share one rate.
    if (!unlimited.has(path)) {
      countRequest?.(budget.address, receivedAt.getTime());
    }
    if (route !== undefined && isWaiting?.(route)) budget.waitUntilEnd(route);
    // A POST request takes a slot after its body has arrived.
    if (raw.method !== "POST") budget.enter();
  };

  return async (c, next) => {
    const request = c.req.raw;
    const route = routeOf(c);
    const receivedAt = now();
    // The first access to a request's headers: `has` reads all of them anyway.
    c.set("requestId", requestIdOf(request.headers));
    const budget = new RequestBudget(
      capacity,
      clientOf(request.headers, c.env),
    );
    if (options.onlyLocal) budget.trust();
    c.set("budget", budget);
    // Hono's middleware copies every response, so it runs only for requests
    // with an origin.
    const isPage = answerCors !== undefined && request.headers.has("origin");
    try {
      checkHost(request);
      if (isPage) {
        const preflight = await answerCors(c, async () => {
          try {
            admit(c, receivedAt, route);
            await next();
          } catch (error) {
            c.res = problemResponse(c, error);
          }
        });
        if (preflight instanceof Response) c.res = preflight;
      } else {
        admit(c, receivedAt, route);
        await next();
      }
    } catch (error) {
      // Hono's own error handler does not receive a thrown value that is not an
      // Error.
      c.res = problemResponse(c, error);
    } finally {
      budget.end();
    }
    if (answerCors && !isPage) c.res.headers.append("vary", "Origin");
    if (route !== undefined) telemetry?.route(route);
    completeHeaders(c);
    if (request.method === "HEAD") await completeLength(c);
    log?.(entryOf(service, c, { route, receivedAt, done: now() }));
  };
}

/** Returns the pattern of a request's route; undefined if there is none. */
function routeOf(c: Context<ServiceEnv>): string | undefined {
  const pattern = routePath(c, -1);
  // Only the guard itself matches every path.
  return pattern === "/*" || pattern === "*" ? undefined : pattern;
}

/** Whether pages of an origin may ask: by the list, or path by path. */
function createOriginCheck({ corsOrigins = [], allowOrigin }: GuardOptions) {
  for (const origin of corsOrigins) requireOrigin(origin);
  const origins = new Set(corsOrigins);
  return (origin: string, { url }: Request) =>
    origins.has(origin) || allowOrigin?.(origin, splitUrl(url).path) === true;
}

function createCors(isAllowed: (origin: string, request: Request) => boolean) {
  return cors({
    origin: (origin, c) => isAllowed(origin, c.req.raw) ? origin : null,
    allowMethods: ["GET", "POST"],
    allowHeaders: ["content-type", "authorization", "x-request-id"],
    exposeHeaders: ["x-request-id", "retry-after"],
    maxAge: 600,
  });
}

function requireOrigin(origin: string): void {
  if (URL.parse(origin)?.origin === origin) return;
  throw new SigError("invalid_request", {
    action: `allow origin ${quote(origin)}`,
    reason: "it must be an origin",
    context: {
      flag: "--cors-origin",
      hint: "For example: https://app.acme.example, with no path behind it.",
    },
  });
}

/**
 * A legal header value (RFC 9110 §5.5) of the received bytes: visible ASCII,
 * bytes from 0x80 on, spaces and tabs inside. It can't end a header.
 */
const REQUEST_ID =
  /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,1022}[\x21-\x7e\x80-\xff])?$/;

/** Returns the client's id unchanged (AuthZEN 1.0 §10.1.4), or a new one. */
function requestIdOf(headers: Headers): string {
  const given = headers.has("x-request-id") ? headers.get("x-request-id")! : "";
  return REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

/**
 * Sets headers individually: passing a list to the constructor costs five times
 * as much.
 */
function completeHeaders(c: Context<ServiceEnv>): void {
  const { headers, status } = c.res;
  headers.set("x-request-id", c.get("requestId"));
  headers.set("x-content-type-options", "nosniff");
  if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  if (!headers.has("content-security-policy")) {
    headers.set("content-security-policy", NO_CONTENT_POLICY);
  }
  if ((status === 429 || status === 503) && !headers.has("retry-after")) {
    headers.set("retry-after", String(RETRY_AFTER_SECONDS));
  }
}

/**
 * Sets the length that the body would have for HEAD, instead of 0 (RFC 9110
 * §8.6). Reads no other body: Deno would then send it as a stream.
 */
async function completeLength({ res }: Context<ServiceEnv>): Promise<void> {
  if (res.headers.has("content-length") || res.body === null) return;
  const { length } = await res.clone().bytes();
  res.headers.set("content-length", String(length));
}

/** Maximum length of a logged path in characters. */
const MAX_LOGGED_PATH = 200;

/**
 * Returns the first segment of a path without a route. The rest may be a
 * misspelt address that contains a secret.
 */
function beginOf(path: string): string {
  const end = path.indexOf("/", 1);
  return (end < 0 ? path : `${path.slice(0, end)}/…`).slice(0, MAX_LOGGED_PATH);
}

function entryOf(
  service: string,
  c: Context<ServiceEnv>,
  { route, receivedAt, done }: {
    readonly route: string | undefined;
    readonly receivedAt: Date;
    readonly done: Date;
  },
): RequestLogEntry {
  const code = c.get("code");
  const thrown = c.get("thrown");
  const client = c.get("budget").address;
  // A part of a batch can fail unexpectedly while the request gets an answer.
  const isUnexpected = thrown !== undefined || code === "internal";
  const entry: { -readonly [K in keyof RequestLogEntry]: RequestLogEntry[K] } =
    {
      time: receivedAt.toISOString(),
      level: isUnexpected ? "error" : "info",
      service,
      request_id: c.get("requestId"),
      method: c.req.raw.method,
      path: route ?? beginOf(splitUrl(c.req.raw.url).path),
      status: c.res.status,
      duration_ms: Math.max(0, done.getTime() - receivedAt.getTime()),
    };
  if (client !== "") entry.client = client;
  if (code !== undefined) entry.code = code;
  if (isUnexpected) entry.error = describeThrown(thrown);
  return entry;
}
