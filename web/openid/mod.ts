/**
 * The OpenID Provider of the login: applications log people in by OpenID Connect
 * (code flow with PKCE), and proxies by forward auth. The login works without
 * it, and does not load it.
 *
 * @example
 * ```ts
 * import { generateProviderKeys, readProviderKeys } from "@sig/web/openid";
 * import { assertEquals } from "@std/assert";
 *
 * const keys = await readProviderKeys(await generateProviderKeys());
 * assertEquals(keys.jwks.keys.length, 3);
 * ```
 *
 * @module
 */
export { createProvider, type ProviderSettings } from "./provider.ts";
export {
  generateProviderKeys,
  type ProviderKeys,
  type PublicKeySet,
  readProviderKeys,
  type SigningAlgorithm,
} from "./keys.ts";
export {
  type AuthMethod,
  type Client,
  type Clients,
  readClients,
} from "./clients.ts";
export type { NameOf, Naming } from "../sign_in/person.ts";
export type { SealingKeys } from "../sign_in/seal.ts";
export type { Application } from "../sign_in/interaction.ts";
export type { OpenIdProvider, ProviderWork } from "../sign_in/host.ts";
