/** The health check that both servers answer (INTERFACES §3). @module */

import { SPEC_VERSION } from "@sig/core";

/** What {@linkcode createHealth} needs. */
export interface HealthOptions {
  /** Which server. */
  readonly service: "sig-api" | "sig-web";
  /** Its package's version. */
  readonly version: string;
  /** The clock; uptime counts from this call on. */
  readonly now: () => Date;
}

/** The body of `GET /healthz`. */
export interface Health {
  /** The server answers. */
  readonly status: "ok";
  /** Which server. */
  readonly service: string;
  /** Its package's version. */
  readonly version: string;
  /** The protocol version. */
  readonly spec_version: string;
  /** Whole seconds since the server was made. */
  readonly uptime_seconds: number;
}

/**
 * Makes what tells a server's health.
 *
 * @example
 * ```ts
 * import { createHealth } from "@sig/api/http";
 * import { assertEquals } from "@std/assert";
 *
 * const now = () => new Date(0);
 * const health = createHealth({ service: "sig-api", version: "0.1.0", now });
 * assertEquals(health().status, "ok");
 * ```
 */
export function createHealth(options: HealthOptions): () => Health {
  const { service, version, now } = options;
  const started = now().getTime();
  return () => ({
    status: "ok",
    service,
    version,
    spec_version: SPEC_VERSION,
    uptime_seconds: Math.floor((now().getTime() - started) / 1000),
  });
}
