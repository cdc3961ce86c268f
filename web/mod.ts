/**
 * The login of SIG: a person's key signs the answer to a single-use challenge.
 * The result contains the person's DID, the granted scopes, and the relationship
 * with an issuer if one is required.
 *
 * ```sh
 * deno run --allow-net jsr:@sig/web --demo
 * ```
 *
 * @example Handle a request
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
export type { AppOptions, WebApp } from "./app.ts";
export {
  type Challenge,
  createChallenge,
  type CreateChallengeOptions,
} from "./login/create_challenge.ts";
export type {
  CheckRelationship,
  InactiveRelationship,
  LoginAnswer,
  LoginRelationship,
} from "./login/relationship.ts";
export {
  createSubjectKeys,
  type LoginKeyResolver,
} from "./login/subject_key.ts";
export {
  type VerifiedLogin,
  verifyLogin,
  type VerifyLoginOptions,
} from "./login/verify_login.ts";
export type { WatchReport } from "./sessions/watch.ts";
export type { App } from "@sig/api/internal/http";
export {
  type ChallengeReading,
  type ChallengeRecord,
  type Challenges,
  challengesIn,
  type ChallengeState,
  type ClosedState,
  type Consumption,
} from "./login/challenges.ts";
export {
  createMemoryStore,
  openStore,
  type OpenStoreOptions,
  type RecordStore,
} from "@sig/consumer/store";
export type { OpenIdProvider, ProviderWork } from "./sign_in/host.ts";
export { VERSION } from "./version.ts";
if (import.meta.main) await (await import("./main.ts")).main();
