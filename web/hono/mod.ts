/**
 * The login of SIG for applications of Hono: routes and a session
 * (`sigLogin`), and middleware that asks an issuer (`requireRelationship`).
 *
 * @module
 */

export {
  requireRelationship,
  type RequireRelationshipOptions,
} from "./require_relationship.ts";
export { sigLogin, type SigLoginOptions } from "./sig_login.ts";
export type { SigEnv, SigSession } from "./sig_session.ts";
export type { Standing } from "../login/login_gate.ts";
export type { FetchPolicy } from "@sig/consumer";
export type { Stores } from "../stores/open_store.ts";
