/** The application: from a request to a response. @module */

import { Hono } from "hono";
import { createHealth } from "./http/mod.ts";
import { VERSION } from "./version.ts";

/** Answers requests; runs on any server that speaks `Request` and `Response`. */
export interface App {
  /** Answers one request; `info` is what the server tells of the connection. */
  fetch(request: Request, info?: unknown): Promise<Response>;
}

/** Options of {@linkcode createApp}. */
export interface AppOptions {
  /** The clock; `() => new Date()` unless told. */
  readonly now?: () => Date;
}

/**
 * Makes the application.
 *
 * @example
 * ```ts
 * import { createApp } from "@sig/api";
 * import { assertEquals } from "@std/assert";
 *
 * const response = await createApp().fetch(
 *   new Request("http://127.0.0.1/healthz"),
 * );
 * assertEquals((await response.json()).status, "ok");
 * ```
 */
export function createApp(options: AppOptions = {}): App {
  const health = createHealth({
    service: "sig-api",
    version: VERSION,
    now: options.now ?? (() => new Date()),
  });
  const app = new Hono();
  app.get("/healthz", (context) => context.json(health()));
  return { fetch: async (request) => await app.fetch(request) };
}
