/** What stands between the network and the routes (SECURITY §5). @module */

import { SigError } from "@sig/core";
import { Hono } from "hono";
import type { App } from "./app.ts";
import { createClientAddress } from "./client_address.ts";
import { clientNetwork } from "./client_network.ts";
import { createCors } from "./cors.ts";
import { describeThrown } from "./describe_thrown.ts";
import { Exchange } from "./exchange.ts";
import { createGate, type GateOptions } from "./gate.ts";
import { createRateLimiter, type RateLimit } from "./rate_limiter.ts";
import { Load, RequestFlow } from "./request_flow.ts";
import { requestIdOf } from "./request_id.ts";
import type { RequestLogEntry } from "./request_log.ts";
import { splitUrl } from "./split_url.ts";

/** One method of one path. */
export interface Route {
  /** `GET` answers `HEAD` too. */
  readonly method: "GET" | "POST";
  /** The path, with `:name` for what {@linkcode Handle} gets as `params`. */
  readonly path: string;
  /** Answers without a token. */
  readonly open?: true;
  /**
   * Does not count for the rate limit: a proxy asks it once for each file of a
   * page. It takes a place like others.
   */
  readonly unlimited?: true;
  /** Answers however busy the service is; for health checks. */
  readonly always?: true;
  /** Forms of other sites may post here; browsers send no cookies with them. */
  readonly crossSite?: true;
  /** Makes the response. */
  readonly handle: Handle;
}

/** Makes the response to a request; what it throws becomes a problem. */
export type Handle = (
  exchange: Exchange,
  params: { readonly [name: string]: string },
) => Response | Promise<Response>;

/** Options of {@linkcode createService}, and of both servers. */
export interface ServiceOptions extends GateOptions {
  /** The clock; `() => new Date()` unless told. */
  readonly now?: (() => Date) | undefined;
  /** How often one client may ask; off unless told. */
  readonly rateLimit?: RateLimit | undefined;
  /** Networks whose `X-Forwarded-For` is believed; none unless told. */
  readonly trustProxy?: readonly string[] | undefined;
  /**
   * Requests answered at a time; 512 unless told. Those whose body is on its
   * way, and those that wait for others, have bounds of their own in proportion.
   */
  readonly maxConcurrent?: number | undefined;
  /**
   * Bytes of large bodies and of large answers that are not sent yet, held at a
   * time; 256 MiB unless told, and 64 MiB for one client.
   */
  readonly maxHeldBytes?: number | undefined;
  /** Milliseconds until a body must be there; 10,000 unless told. */
  readonly bodyTimeoutMs?: number | undefined;
  /**
   * Milliseconds in which a client must take something of a large answer, and
   * all of it in four times as many; 30,000 unless told. Else it is cut off.
   */
  readonly sendTimeoutMs?: number | undefined;
  /** Told of every request when its response is made; must not throw. */
  readonly log?: ((entry: RequestLogEntry) => void) | undefined;
}

/** Answered at a time unless told. */
const DEFAULT_MAX_CONCURRENT = 512;
const DEFAULT_MAX_HELD_BYTES = 256 * 1024 * 1024;
const DEFAULT_BODY_TIMEOUT_MS = 10_000;
const DEFAULT_SEND_TIMEOUT_MS = 30_000;

/**
 * Makes a service of routes: request ids, the Host list, the token, limits,
 * CORS, problems for whatever is refused or thrown, and one log entry a
 * request.
 *
 * @example
 * ```ts
 * import { createService } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createService("sig-api", [{
 *   method: "GET",
 *   path: "/hello/:name",
 *   handle: (exchange, { name }) => exchange.json({ hello: name }),
 * }]);
 * const found = await app.fetch(new Request("http://127.0.0.1/hello/alice"));
 * assertEquals(await found.json(), { hello: "alice" });
 * const lost = await app.fetch(new Request("http://127.0.0.1/nowhere"));
 * assertEquals((await lost.json()).code, "not_found");
 * ```
 *
 * @throws {SigError} `invalid_request` for a host, origin, proxy or token that
 * is none.
 * @throws {RangeError} for a rate limit that is none.
 */
export function createService(
  service: "sig-api" | "sig-web",
  routes: readonly Route[],
  options: ServiceOptions = {},
): App {
  const now = options.now ?? (() => new Date());
  const gate = createGate(options);
  const cors = createCors(options.corsOrigins ?? [], options.allowOrigin);
  const clientOf = createClientAddress(options.trustProxy);
  const limit = options.rateLimit && createRateLimiter(options.rateLimit);
  const load = new Load({
    places: options.maxConcurrent ?? DEFAULT_MAX_CONCURRENT,
    heldBytes: options.maxHeldBytes ?? DEFAULT_MAX_HELD_BYTES,
  });
  const bodyTimeoutMs = options.bodyTimeoutMs ?? DEFAULT_BODY_TIMEOUT_MS;
  const sendTimeoutMs = options.sendTimeoutMs ?? DEFAULT_SEND_TIMEOUT_MS;

  const answer: Answer = (route, { exchange, flow, client }, params) => {
    const { request } = exchange;
    if (!route.crossSite) gate.requireSameSite(request);
    if (route.always) return route.handle(exchange, params);
    // An address that isn't known can't be told from others.
    if (!route.unlimited) limit?.(client() ?? "", now().getTime());
    if (!route.open) gate.requireToken(request.headers);
    // With a body it takes a place when that is there.
    if (route.method === "GET") flow.enter();
    return route.handle(exchange, params);
  };
  const router = createRouter(routes, answer);
  const timeOf = createTimeText();

  return {
    async fetch(request, info) {
      const came = now();
      const client = () => clientOf(request.headers, info);
      const flow = new RequestFlow(load, () => clientNetwork(client() ?? ""));
      const exchange = new Exchange(request, {
        requestId: requestIdOf(request.headers),
        headers: cors.headersFor(request),
        bodyTimeoutMs,
        sendTimeoutMs,
        flow,
      });
      let response: Response;
      try {
        gate.requireHost(request);
        response = cors.isPreflight(request)
          ? exchange.reply(null, {
            status: 204,
            headers: cors.preflightHeaders,
          })
          : await router.fetch(request, { exchange, flow, client });
      } catch (error) {
        response = exchange.refuse(error);
      } finally {
        flow.end();
      }
      if (options.log !== undefined) {
        const { status } = response;
        const times = { came, time: timeOf(came), done: now() };
        options.log(entryOf(service, exchange, status, times, client()));
      }
      return response;
    },
  };
}

interface Bindings {
  readonly exchange: Exchange;
  readonly flow: RequestFlow;
  readonly client: () => string | undefined;
}

type Answer = (
  route: Route,
  bindings: Bindings,
  params: { readonly [name: string]: string },
) => Response | Promise<Response>;

/**
 * What finds a request's route; every error is answered by the exchange. Each
 * path has one handler a method: a second one, for the other methods, would
 * take the router off its fast way, so those are told by a router of their own.
 */
function createRouter(routes: readonly Route[], answer: Answer) {
  const router = new Hono<{ Bindings: Bindings }>();
  for (const route of routes) {
    const hasParams = route.path.includes(":");
    router.on(route.method, route.path, async ({ env, req }) => {
      try {
        return await answer(route, env, hasParams ? req.param() : NO_PARAMS);
      } catch (error) {
        // Here, since a thrown non-error would escape the router's handler.
        return env.exchange.refuse(error);
      }
    });
  }
  const others = createOtherMethods(routes);
  router.notFound(({ env }) => others.fetch(env.exchange.request, env));
  return router;
}

const NO_PARAMS = Object.freeze({});

/** Answers what no route does: 405 on a known path, else 404. */
function createOtherMethods(routes: readonly Route[]) {
  const router = new Hono<{ Bindings: Bindings }>();
  const allowed = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = allowed.get(path) ?? [];
    allowed.set(path, methods);
    methods.push(...(method === "GET" ? ["GET", "HEAD"] : ["POST"]));
  }
  for (const [path, methods] of allowed) {
    const allow = methods.join(", ");
    router.all(path, ({ env }) =>
      env.exchange.refuse(
        new SigError(
          "method_not_allowed",
          `Cannot answer: the method must be ${
            allow.replace(/, (?=\w+$)/, " or ")
          }`,
          { context: { allow } },
        ),
      ));
  }
  router.notFound(({ env }) =>
    env.exchange.refuse(
      new SigError("not_found", "Cannot answer: there is nothing at this path"),
    )
  );
  return router;
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
  { request, requestId, problem, thrown }: Exchange,
  status: number,
  { came, time, done }: {
    readonly came: Date;
    readonly time: string;
    readonly done: Date;
  },
  client: string | undefined,
): RequestLogEntry {
  // A part of an answer can fail so, while the request has an answer.
  const isUnexpected = thrown !== undefined || problem?.code === "internal";
  const entry: { -readonly [K in keyof RequestLogEntry]: RequestLogEntry[K] } =
    {
      time,
      level: isUnexpected ? "error" : "info",
      service,
      request_id: requestId,
      method: request.method,
      path: splitUrl(request.url).path.slice(0, MAX_LOGGED_PATH),
      status,
      duration_ms: Math.max(0, done.getTime() - came.getTime()),
    };
  if (client !== undefined) entry.client = client;
  if (problem !== undefined) entry.code = problem.code;
  if (isUnexpected) entry.error = describeThrown(thrown);
  return entry;
}
