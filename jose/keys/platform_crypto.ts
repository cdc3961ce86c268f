/** `node:crypto`, where the platform has it. @module */

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
  /** Verifies synchronously. */
  verify(
    algorithm: null,
    message: Uint8Array,
    key: NodeKey,
    signature: Uint8Array,
  ): boolean;
}

interface NodeGlobal {
  readonly process?: {
    readonly getBuiltinModule?: (name: string) => unknown;
  };
}

/**
 * The module, or undefined in browsers and most workers. There is no static
 * import: it would break those platforms, and costs 30–60 ms of start-up in
 * Deno even where it is never used.
 */
export function loadNodeCrypto(): NodeCrypto | undefined {
  try {
    const { process } = globalThis as NodeGlobal;
    const crypto = process?.getBuiltinModule?.("node:crypto");
    return crypto as NodeCrypto | undefined;
  } catch {
    return undefined;
  }
}
