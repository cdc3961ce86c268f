/**
 * The login of SIG for applications of Hono: routes and a session (`sigLogin`),
 * and middleware that requires a relationship (`requireRelationship`).
 *
 * @example Allow employees only
 * ```ts
 * import { requireRelationship, type SigEnv } from "@sig/web/hono";
 * import { Hono } from "hono";
 * import { assertEquals } from "@std/assert";
 *
 * const staff = requireRelationship({
 *   issuer: "acme.example",
 *   require: ["relationship=employee"],
 * });
 * const app = new Hono<SigEnv>().get("/", staff, (c) => c.text("welcome"));
 * assertEquals((await app.request("/")).status, 401);
 * ```
 *
 * @module
 */

export {
  requireRelationship,
  type RequireRelationshipOptions,
} from "./require_relationship.ts";
export { sigLogin, type SigLoginOptions } from "./sig_login.ts";
export type { SigEnv, SigSession } from "./require_relationship.ts";
export type { MatchedRelationship } from "../login/relationship.ts";
export type { FetchPolicy } from "@sig/consumer";
export type { RecordStore } from "@sig/consumer/store";
