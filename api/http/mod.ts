/**
 * What both HTTP servers of SIG stand on: a Hono application behind one guard.
 *
 * @example A service of one route
 * ```ts
 * import { createService, readJson, sendJson } from "@sig/api/http";
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
export { describeThrown, PAGE_HEADERS, type ServiceEnv } from "./guard.ts";
export type {
  AllowOrigin,
  CapacityOptions,
  GuardOptions,
  RateLimit,
  RequestLogEntry,
  ServiceOptions,
} from "./options.ts";
export { Capacity, overloaded, Quota, RequestBudget } from "./limits.ts";
export {
  Exchange,
  type Handle,
  type ReplyOptions,
  type Route,
} from "./old_routes.ts";
export { problemResponse } from "./problem.ts";
export {
  budgetOf,
  parseJsonBody,
  readForm,
  readJson,
  readJsonBytes,
} from "./read_body.ts";
export { send, sendJson, type SendOptions } from "./send.ts";
export { type App, createService, mountRoutes, toApp } from "./service.ts";
export { createServerIo, writeLog } from "./deno_server_io.ts";
export { listen } from "./listen.ts";
export { createLogWriter, type LogWriter } from "./log_writer.ts";
export { readList, readVariable } from "./read_variable.ts";
export { formatLogEntry, type LogFormat } from "./request_log.ts";
export {
  runServer,
  type ServerProgram,
  serveUntilStopped,
  type Startup,
} from "./run_server.ts";
export type { Respond, RunningServer, ServerIo } from "./server_io.ts";
export {
  type RejectionSource,
  surviveRejections,
} from "./survive_rejections.ts";
