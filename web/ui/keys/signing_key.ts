/** A key of this browser, as the libraries sign with it. @module */

import type { SigningKey } from "../libraries/mod.ts";
import type { StoredKey } from "./key_store.ts";

/** The browser signs; nobody sees the key. */
export function signingKeyOf(
  { did, publicJwk, privateKey }: StoredKey,
): SigningKey {
  return {
    kid: did,
    publicJwk,
    async sign(message) {
      const bytes = new Uint8Array(message);
      return new Uint8Array(
        await crypto.subtle.sign("Ed25519", privateKey, bytes),
      );
    },
  };
}
