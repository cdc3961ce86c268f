/**
 * The login of SIG: a person's key answers a challenge, once, and the answer
 * says who it is, what was granted, and what an issuer says of them.
 *
 * ```sh
 * deno run --allow-net jsr:@sig/web --demo
 * ```
 *
 * @example As a function from request to response
 * ```ts
 * import { createApp } from "@sig/web";
 * import { assertEquals } from "@std/assert";
 *
 * const app = createApp({ audiences: ["https://shop.example"] });
 * const response = await app.fetch(new Request("https://shop.example/healthz"));
 * assertEquals((await response.json()).service, "sig-web");
 * ```
 *
 * @module
 */
export { createApp } from "./app.ts";
export type { AppOptions } from "./app.ts";
export type { App } from "@sig/api/http";
export { createDemoIssuer } from "./demo/demo_issuer.ts";
export type {
  DemoEvent,
  DemoIssuer,
  DemoIssuerOptions,
} from "./demo/demo_issuer.ts";
export type {
  ChallengeReading,
  ChallengeRecord,
  ChallengeState,
  ChallengeStore,
  ClosedState,
  Consumption,
} from "./stores/challenge_store.ts";
export {
  createMemoryStore,
  type MemoryStoreOptions,
} from "./stores/memory_store.ts";
export { openStore, type OpenStoreOptions } from "./stores/open_store.ts";
export { VERSION } from "./version.ts";
if (import.meta.main) await (await import("./main.ts")).main();
