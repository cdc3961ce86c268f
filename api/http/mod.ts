/**
 * What every HTTP server of SIG needs. So far the health check.
 *
 * @module
 */
export { createHealth, type Health, type HealthOptions } from "./health.ts";
