/** The health check that both servers answer (INTERFACES §3). @module */

import { SPEC_VERSION } from "@sig/core";

/** What {@linkcode createHealth} needs. */
export interface HealthOptions {
  /** Told to whoever asks, so that a probe notices the wrong port. */
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
  /** `sig-api` or `sig-web`. */
  readonly service: string;
  /** Its package's version. */
  readonly version: string;
  /** The version of the protocol that feeds follow, `sig/0.1`. */
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
