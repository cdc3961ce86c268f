/** Options of the servers. @module */

import type { RateLimit } from "./client.ts";
import type { CapacityOptions } from "./limits.ts";
import type { Readiness } from "./ready.ts";
import type { LogFormat, RequestLogEntry } from "./request_log.ts";
import type { Telemetry, TelemetryAttributes } from "./telemetry.ts";

export type {
  CapacityOptions,
  LogFormat,
  RateLimit,
  Readiness,
  RequestLogEntry,
  Telemetry,
  TelemetryAttributes,
};

/** Answers requests; runs on any server that speaks `Request` and `Response`. */
export interface App {
  /**
   * Answers one request and never rejects. `info` is what `Deno.serve` tells of
   * the connection; without it the client's address is not known.
   */
  fetch(request: Request, info?: unknown): Promise<Response>;
}

/** Whether pages of an origin may ask what is at a path. */
export type AllowOrigin = (origin: string, path: string) => boolean;

/** Options of both servers. */
export interface GuardOptions extends CapacityOptions {
  /** The only names in `Host` that are answered (default: all). */
  readonly hosts?: readonly string[] | undefined;
  /** Origins whose pages may ask (CORS; default: none). */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Whether pages of a further origin may ask what is at a path. */
  readonly allowOrigin?: AllowOrigin | undefined;
  /** The clock (default: the system's). */
  readonly now?: (() => Date) | undefined;
  /** How often one client may ask (default: unlimited). */
  readonly rateLimit?: RateLimit | undefined;
  /** Networks whose `X-Forwarded-For` is believed (default: none). */
  readonly trustProxy?: readonly string[] | undefined;
  /** Gets an entry for each request when its response is made; must not throw. */
  readonly log?: ((entry: RequestLogEntry) => void) | undefined;
  /** Counts and measures, as `findTelemetry` finds it (default: nothing does). */
  readonly telemetry?: Telemetry | undefined;
}

/** Options of one of the servers. */
export interface ServiceOptions extends GuardOptions {
  /** In the log and in the health check, so that a probe notices a wrong port. */
  readonly service: "sig-api" | "sig-web";
  /** Its package's version. */
  readonly version: string;
  /** Makes the answer of `/readyz` (default: there is no such route). */
  readonly checkReadiness?: () => Promise<Readiness>;
  /** The bearer token: who has it learns which issuers are unreachable. */
  readonly token?: string | undefined;
  /** Paths that don't count for the rate limit, such as `/forward-auth`. */
  readonly unlimited?: readonly string[];
  /** Paths where forms of other sites may post; browsers send no cookies. */
  readonly crossSite?: readonly string[];
}
