/**
 * The verification API as a service: is a feed valid, and what may a subject
 * do? `createApp` returns an application for any server that uses `Request` and
 * `Response`.
 *
 * @example A question about an inline feed
 * ```ts
 * import { createApp } from "@sig/api";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createApp();
 * const response = await app.fetch(
 *   new Request("http://127.0.0.1/v1/check", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify({
 *       feed: {
 *         metadata: {
 *           spec_version: "sig/0.1",
 *           issuer: "did:web:acme.example",
 *           jwks_uri: "https://acme.example/.well-known/jwks.json",
 *           events_uri: "https://acme.example/.well-known/sig/events.jsonl",
 *           public_only: true,
 *           algorithms_supported: ["EdDSA"],
 *         },
 *         jwks: { keys: [] },
 *         events: "",
 *       },
 *       subject: "did:web:alice.example",
 *       require: [{ role: "deploy" }],
 *     }),
 *   }),
 * );
 * const { decision, reasons } = await response.json();
 * assertEquals(decision, "deny");
 * assertEquals(reasons, [{ code: "no_relationship" }]);
 * ```
 *
 * @module
 */
export { type App, type AppOptions, createApp } from "./app.ts";
export { hostsOf } from "./http/access.ts";
export { VERSION } from "./openapi/operation.ts";
if (import.meta.main) await (await import("./main.ts")).main();
