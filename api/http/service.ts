/** A Hono application behind the guard of both servers. @module */

import { SigError, SPEC_VERSION } from "@sig/core";
import { type Context, Hono } from "hono";
import { hasToken } from "./access.ts";
import {
  createGuard,
  HEALTH_PATH,
  READY_PATH,
  type ServiceEnv,
} from "./guard.ts";
import type { App, ServiceOptions } from "./options.ts";
import { problemResponse, send, sendJson } from "./send.ts";

/**
 * Creates a Hono application with `GET /healthz` and, with `checkReadiness`,
 * `GET /readyz`: request ids, the Host list, limits, CORS, problems for
 * rejected requests and errors, and one log entry per request. Routes are added
 * as to any Hono application.
 *
 * @example
 * ```ts
 * import { createService } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createService({ service: "sig-api", version: "0.1.0" });
 * app.get("/hello/:name", (c) => c.json({ hello: c.req.param("name") }));
 * const found = await app.request("/hello/alice");
 * assertEquals(await found.json(), { hello: "alice" });
 * const lost = await app.request("/nowhere");
 * assertEquals((await lost.json()).code, "not_found");
 * ```
 *
 * @throws {SigError} `invalid_request` for an invalid host, origin or proxy.
 * @throws {RangeError} for an invalid rate limit.
 */
export function createService(options: ServiceOptions): Hono<ServiceEnv> {
  const { service, version } = options;
  const now = options.now ?? (() => new Date());
  const startedMs = now().getTime();
  const app = new Hono<ServiceEnv>();
  app.use(createGuard(options));
  app.onError((error, c) => problemResponse(c, error));
  app.notFound((c) => problemResponse(c, noRoute(app, c)));
  app.get(HEALTH_PATH, (c) =>
    sendJson(c, {
      status: "ok",
      service,
      version,
      spec_version: SPEC_VERSION,
      uptime_seconds: Math.floor((now().getTime() - startedMs) / 1000),
    }));
  const { checkReadiness, token } = options;
  if (checkReadiness !== undefined) {
    app.get(READY_PATH, async (c) => {
      const { isReady, stores, issuers } = await checkReadiness();
      if (isReady) return sendJson(c, { status: "ready" });
      const isKnown = token !== undefined && hasToken(c.req.raw, token);
      const outcomes = Object.values(issuers);
      const checks = {
        ...stores,
        ...(outcomes.length === 0 ? {} : {
          issuers: isKnown
            ? issuers
            : outcomes.includes("ok")
            ? "ok"
            : "unreachable",
        }),
      };
      const text = JSON.stringify({ status: "not_ready", checks });
      return send(c, text, "application/json", { status: 503 });
    });
  }
  return app;
}

/** Returns the application without Hono's types, for users of the packages. */
export function toApp(service: Hono<ServiceEnv>): App {
  return {
    fetch: (request, info) =>
      Promise.resolve(service.fetch(request, info ?? {})),
  };
}

/** Responds 405 on a path that has other methods, otherwise 404. */
function noRoute(app: Hono<ServiceEnv>, { req }: Context): SigError {
  // The guard is registered for every path and does not count.
  const found = ["GET", "POST"].filter((method) =>
    app.router.match(method, req.path)[0].length > 1
  );
  if (found.length === 0) {
    return new SigError("not_found", {
      action: "answer",
      reason: "there is nothing at this path",
    });
  }
  const methods = found.flatMap((each) =>
    each === "GET" ? ["GET", "HEAD"] : [each]
  );
  const words = methods.join(", ").replace(/, (?=\w+$)/, " or ");
  return new SigError("method_not_allowed", {
    action: "answer",
    reason: `the method must be ${words}`,
    context: { allow: methods.join(", ") },
  });
}
