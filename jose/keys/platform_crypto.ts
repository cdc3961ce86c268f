/** `node:crypto`, where the platform has it. @module */

import { loadBuiltin } from "../bytes/load_builtin.ts";

/** A key that `node:crypto` holds; opaque here. */
export type NodeKey = { readonly type: string };

/** A public key as `node:crypto` imports it. */
export interface NodeJwkInput {
  /** The public JWK. */
  readonly key: {
    readonly kty: "OKP";
    readonly crv: string;
    readonly x: string;
  };
  /** Always `jwk`. */
  readonly format: "jwk";
}

/** As much of `node:crypto` as is used here. */
export interface NodeCrypto {
  /** Imports a public key, or throws. */
  createPublicKey(input: NodeJwkInput): NodeKey;
  /** Imports a private key in PKCS #8, or throws. */
  createPrivateKey(input: {
    readonly key: Uint8Array;
    readonly format: "der";
    readonly type: "pkcs8";
  }): NodeKey;
  /** Signs synchronously. */
  sign(algorithm: null, message: Uint8Array, key: NodeKey): Uint8Array;
  /** Verifies synchronously. */
  verify(
    algorithm: null,
    message: Uint8Array,
    key: NodeKey,
    signature: Uint8Array,
  ): boolean;
}

/**
 * The module, or undefined in browsers and most workers: with a static import it
 * would break there, and cost each start its 30 to 60 ms.
 */
export function loadNodeCrypto(): NodeCrypto | undefined {
  return loadBuiltin("node:crypto") as NodeCrypto | undefined;
}
