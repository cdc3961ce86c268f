/** The one middleware of both servers. @module */

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

/** What handlers find in their `Context`. */
export interface ServiceEnv {
  /** What the platform says of the connection. */
  Bindings: object;
  /** What the guard sets. */
  Variables: {
    /** The client's `X-Request-ID`, or a fresh one. */
    requestId: string;
    /** What the request may take. */
    budget: RequestBudget;
    /** The code of the problem that was answered. */
    code: string | undefined;
    /** What was thrown and not meant to happen; for the log alone. */
    thrown: unknown;
  };
}

/** Answers however busy the service is, for health checks. */
export const HEALTH_PATH = "/healthz";
/** Readiness: whether the stores and issuers of the service answer. */
export const READY_PATH = "/readyz";

/** Seconds of `Retry-After` where the refusal has none of its own. */
const RETRY_AFTER_SECONDS = 5;

/** What is not a page loads nothing, and stands in no frame, if shown as one. */
const NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** What browsers know by now and no page here needs. */
const UNUSED_FEATURES = [
  ...["accelerometer", "autoplay", "bluetooth", "camera", "display-capture"],
  ...["encrypted-media", "fullscreen", "gamepad", "geolocation", "gyroscope"],
  ...["hid", "idle-detection", "magnetometer", "microphone", "midi", "payment"],
  ...["picture-in-picture", "screen-wake-lock", "serial", "usb", "web-share"],
  "xr-spatial-tracking",
];

/**
 * Headers of a page beside its content security policy: it says to no other site
 * where its reader came from, shares its process with none, stands in no frame,
 * and can't use devices.
 *
 * @example
 * ```ts
 * import { PAGE_HEADERS } from "@sig/api/http";
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
 * Makes the middleware: request id, Host list, other sites' pages, CORS, rate
 * and limits before the route; headers and the log entry after it.
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
  const { corsOrigins = [], allowOrigin, log, telemetry } = options;
  const answerCors = corsOrigins.length > 0 || allowOrigin !== undefined
    ? createCors(isAllowed)
    : undefined;
  const checkHost = requireHost(options.hosts);
  const clientOf = createClientAddress(options.trustProxy);
  const countRequest = options.rateLimit &&
    createRateLimiter(options.rateLimit);
  const capacity = new Capacity(options);
  const timeText = createTimeText();

  /** @throws {SigError} where the request is refused before its route. */
  const admit = (c: Context<ServiceEnv>, came: Date) => {
    const { path, raw } = c.req;
    const budget = c.get("budget");
    if (!crossSite.has(path)) requireSameSite(raw, isAllowed);
    if (path === HEALTH_PATH || path === READY_PATH) return;
    // All clients without a known address share one rate.
    if (!unlimited.has(path)) countRequest?.(budget.address, came.getTime());
    // With a body it takes a place when that is there.
    if (raw.method !== "POST") budget.enter();
  };

  return async (c, next) => {
    const request = c.req.raw;
    const came = now();
    // The first look at a request's headers: `has` reads all of them at once.
    c.set("requestId", requestIdOf(request.headers));
    const budget = new RequestBudget(
      capacity,
      clientOf(request.headers, c.env),
    );
    c.set("budget", budget);
    // Hono's middleware copies every response: only where a page asks.
    const isPage = answerCors !== undefined && request.headers.has("origin");
    try {
      checkHost(request);
      if (isPage) {
        const preflight = await answerCors(c, async () => {
          try {
            admit(c, came);
            await next();
          } catch (error) {
            c.res = problemResponse(c, error);
          }
        });
        if (preflight instanceof Response) c.res = preflight;
      } else {
        admit(c, came);
        await next();
      }
    } catch (error) {
      // Hono's own handler of errors never gets a thrown non-error.
      c.res = problemResponse(c, error);
    } finally {
      budget.end();
    }
    if (answerCors && !isPage) c.res.headers.append("vary", "Origin");
    const route = telemetry && routePath(c, -1);
    // The guard alone matched: there is no such route.
    if (route && route !== "/*") telemetry.route(route);
    completeHeaders(c);
    if (request.method === "HEAD") await completeLength(c);
    log?.(entryOf(service, c, { came, time: timeText(came), done: now() }));
  };
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
  throw new SigError(
    "invalid_request",
    `Cannot allow origin ${quote(origin)}: it must be an origin`,
    {
      context: {
        flag: "--cors-origin",
        hint: "For example: https://app.acme.example, with no path behind it.",
      },
    },
  );
}

/**
 * A legal header value (RFC 9110 §5.5), as the bytes that came: visible ASCII,
 * bytes from 0x80 on, spaces and tabs within. Nothing in it ends a header.
 */
const REQUEST_ID =
  /^[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{0,1022}[\x21-\x7e\x80-\xff])?$/;

/** It must be sent back as it came (AuthZEN 1.0 §10.1.4). */
function requestIdOf(headers: Headers): string {
  const given = headers.has("x-request-id") ? headers.get("x-request-id")! : "";
  return REQUEST_ID.test(given) ? given : crypto.randomUUID();
}

/** One by one: a list for the constructor costs five times that. */
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
 * To HEAD what the body's length would be, not 0 (RFC 9110 §8.6). The body of
 * others is not touched: Deno would send it as a stream.
 */
async function completeLength({ res }: Context<ServiceEnv>): Promise<void> {
  if (res.headers.has("content-length") || res.body === null) return;
  const { length } = await res.clone().bytes();
  res.headers.set("content-length", String(length));
}

/** Many requests come in one millisecond, whose text is made once. */
function createTimeText(): (date: Date) => string {
  let lastMs = NaN;
  let text = "";
  return (date) => {
    const ms = date.getTime();
    if (ms !== lastMs) {
      text = date.toISOString();
      lastMs = ms;
    }
    return text;
  };
}

/** Characters of a path that a log line holds. */
const MAX_LOGGED_PATH = 200;

function entryOf(
  service: string,
  c: Context<ServiceEnv>,
  { came, time, done }: {
    readonly came: Date;
    readonly time: string;
    readonly done: Date;
  },
): RequestLogEntry {
  const code = c.get("code");
  const thrown = c.get("thrown");
  const client = c.get("budget").address;
  // A part of an answer can fail so, while the request has an answer.
  const isUnexpected = thrown !== undefined || code === "internal";
  const entry: { -readonly [K in keyof RequestLogEntry]: RequestLogEntry[K] } =
    {
      time,
      level: isUnexpected ? "error" : "info",
      service,
      request_id: c.get("requestId"),
      method: c.req.raw.method,
      path: splitUrl(c.req.raw.url).path.slice(0, MAX_LOGGED_PATH),
      status: c.res.status,
      duration_ms: Math.max(0, done.getTime() - came.getTime()),
    };
  if (client !== "") entry.client = client;
  if (code !== undefined) entry.code = code;
  if (isUnexpected) entry.error = describeThrown(thrown);
  return entry;
}
