/**
 * The verification API as a service. So far it answers its health check only.
 *
 * @module
 */
export { createApp } from "./app.ts";
export type { App, AppOptions } from "./app.ts";
