/**
 * The base of both HTTP servers of SIG: a Hono application behind one guard.
 *
 * @example A service of one route
 * ```ts
 * import { createService, readJson, sendJson } from "@sig/api/internal/http";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createService({
 *   service: "sig-web",
 *   version: "0.1.0",
 *   hosts: ["localhost"],
 * });
 * app.post("/echo", async (c) => sendJson(c, await readJson(c, 1024)));
 * const response = await app.request("http://rebound.example/echo", {
 *   method: "POST",
 * });
 * assertEquals(response.status, 421);
 * ```
 *
 * @module
 */
export { hostsOf, requireToken } from "./access.ts";
export {
  type ClientAddress,
  clientNetwork,
  createClientAddress,
} from "./client.ts";
export { PAGE_HEADERS, type ServiceEnv } from "./guard.ts";
export type {
  AllowOrigin,
  App,
  CapacityOptions,
  GuardOptions,
  RateLimit,
  RequestLogEntry,
  ServiceOptions,
} from "./options.ts";
export { createTurns, overloaded, Quota, RequestBudget } from "./limits.ts";
export {
  type JsonBody,
  MAX_BODY_BYTES,
  MAX_FEED_BODY_BYTES,
  parseJsonBody,
  readForm,
  readJson,
  readJsonBytes,
  readUntypedJson,
} from "./read_body.ts";
export * from "./packed_text.ts";
export * from "./ready.ts";
export * from "./send.ts";
export * from "./telemetry.ts";
export { createService, toApp } from "./service.ts";
