/**
 * The browser part of a login, for the pages of applications: keys that no
 * script can read, and signing a challenge with them. Plain ES modules for any
 * bundler; nothing here needs Deno.
 *
 * Keys belong to an origin: a person who signs in at two applications has two
 * keys, unless both applications use one login (`sig web --oidc-clients`).
 *
 * @example The server's clock is used, not that of this device
 * ```ts
 * import { clockOf } from "@sig/web/browser";
 * import { assertEquals } from "@std/assert";
 *
 * const now = clockOf({ issued_at: "2026-01-01T00:00:00Z" });
 * assertEquals(now().getUTCFullYear(), 2026);
 * ```
 *
 * @module
 */

export {
  type BrowserKey,
  createKey,
  findMissing,
  forgetKey,
  keepKey,
  loadKey,
  loadKeys,
  type Missing,
} from "./key_store.ts";
export {
  createPasskey,
  mayUsePasskeys,
  openPasskey,
  PasskeyError,
} from "./passkey.ts";
export {
  type SignedIn,
  signIn,
  type SignInOptions,
  type SignInRequest,
} from "./sign_in.ts";
export { attest, clockOf, signingKeyOf } from "./attest.ts";
export type { JsonValue, Jwk } from "@sig/core";
export type {
  AttestationChallenge,
  AttestationPreview,
  SignableChallenge,
  SigningKey,
} from "@sig/jose";
