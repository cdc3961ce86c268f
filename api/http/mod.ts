/**
 * What both HTTP servers of SIG stand on: who is let in, within which limits,
 * how errors are told, and one log entry a request.
 *
 * @example A service of one route
 * ```ts
 * import { createService } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createService("sig-web", [{
 *   method: "POST",
 *   path: "/echo",
 *   handle: async (exchange) => exchange.json(await exchange.readJson(1024)),
 * }], { hosts: ["localhost"] });
 * const response = await app.fetch(
 *   new Request("http://rebound.example/echo", { method: "POST" }),
 * );
 * assertEquals(response.status, 421);
 * ```
 *
 * @module
 */
export type { App } from "./app.ts";
export { type ClientAddress, createClientAddress } from "./client_address.ts";
export { clientNetwork } from "./client_network.ts";
export {
  Exchange,
  type ExchangeContext,
  type ReplyOptions,
} from "./exchange.ts";
export type { AllowOrigin } from "./cors.ts";
export type { GateOptions } from "./gate.ts";
export { createHealth, type Health, type HealthOptions } from "./health.ts";
export { hostsOf } from "./hosts_of.ts";
export { createServerIo, writeLog } from "./deno_server_io.ts";
export { KnownBodies } from "./known_bodies.ts";
export type { BodyReader } from "./read_json_body.ts";
export { listen } from "./listen.ts";
export { readList, readVariable } from "./read_variable.ts";
export { createLogWriter, type LogWriter } from "./log_writer.ts";
export { PAGE_HEADERS } from "./page_headers.ts";
export type { RateLimit } from "./rate_limiter.ts";
export { Load, type LoadLimits, RequestFlow } from "./request_flow.ts";
export { Shares, type SharesOptions } from "./shares.ts";
export {
  formatLogEntry,
  type LogFormat,
  type RequestLogEntry,
} from "./request_log.ts";
export {
  runServer,
  type ServerProgram,
  serveUntilStopped,
  type Startup,
} from "./run_server.ts";
export type { TextPieces } from "./send_answer.ts";
export type { Respond, RunningServer, ServerIo } from "./server_io.ts";
export {
  createService,
  type Handle,
  type Route,
  type ServiceOptions,
} from "./service.ts";
export {
  type RejectionSource,
  surviveRejections,
} from "./survive_rejections.ts";
