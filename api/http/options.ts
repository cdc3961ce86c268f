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

/** An HTTP application, for any server that uses `Request` and `Response`. */
export interface App {
  /**
   * Answers one request; never rejects. `info` is the second argument of a
   * `Deno.serve` handler; without it the client's address is unknown.
   */
  fetch(request: Request, info?: unknown): Promise<Response>;
}

/** Returns whether pages of an origin may send requests to a path. */
export type AllowOrigin = (origin: string, path: string) => boolean;

/** Options of both servers. */
export interface GuardOptions extends CapacityOptions {
  /** Allowed names in `Host` (default: all). */
  readonly hosts?: readonly string[] | undefined;
  /** Origins whose pages may send requests (CORS; default: none). */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Allows further origins for single paths. */
  readonly allowOrigin?: AllowOrigin | undefined;
  /** Returns the current time (default: the system clock). */
  readonly now?: (() => Date) | undefined;
  /** The rate limit of one client (default: unlimited). */
  readonly rateLimit?: RateLimit | undefined;
  /** Networks of proxies whose `X-Forwarded-For` is trusted (default: none). */
  readonly trustProxy?: readonly string[] | undefined;
  /** Receives a log entry when a response is created; must not throw. */
  readonly log?: ((entry: RequestLogEntry) => void) | undefined;
  /**
   * Whether only this machine can reach the server: one client may then use all
   * of its places (default: false).
   */
  readonly onlyLocal?: boolean | undefined;
  /** Counters and gauges, such as those of `findTelemetry` (default: none). */
  readonly telemetry?: Telemetry | undefined;
}

/** Options of one of the servers. */
export interface ServiceOptions extends GuardOptions {
  /**
   * The server's name in the log and in the health check, so that a probe
   * notices a wrong port.
   */
  readonly service: "sig-api" | "sig-web";
  /** The version of its package. */
  readonly version: string;
  /** Checks readiness for `/readyz` (default: no such route). */
  readonly checkReadiness?: () => Promise<Readiness>;
  /** The bearer token that shows which issuers are unreachable in `/readyz`. */
  readonly token?: string | undefined;
  /** Paths that don't count for the rate limit, such as `/forward-auth`. */
  readonly unlimited?: readonly string[];
  /**
   * Returns whether the requests of a route, such as `/oidc/token`, wait for a
   * store or an issuer: they then take no slot (default: none).
   */
  readonly isWaiting?: (route: string) => boolean;
  /**
   * Paths that accept cross-site form posts; browsers send no cookies with
   * them.
   */
  readonly crossSite?: readonly string[];
}
