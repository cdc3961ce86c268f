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

/**
 * `web`: WebCrypto, asynchronous, there at once, on every platform. `node`:
 * `node:crypto`, synchronous and about 1.5 times as fast, but it takes 30 to
 * 60 ms to load in Deno. `auto`: WebCrypto first, `node:crypto` (where there
 * is one) once there turn out to be many signatures. All accept and refuse the
 * same signatures.
 */
export type VerificationBackend = "auto" | "node" | "web";

/**
 * Verifications by WebCrypto before `auto` loads `node:crypto`: so few that a
 * whole feed hardly notices, so many that a short question never pays for it.
 */
export const WEB_VERIFICATIONS = 256;

/** The choice for all keys of one set; it counts their verifications. */
export class BackendChoice {
  #node: NodeCrypto | undefined;
  #webLeft: number;

  /** @throws {TypeError} when `node` is wanted and the platform has none. */
  constructor(wanted: VerificationBackend = "auto") {
    this.#webLeft = wanted === "auto" ? WEB_VERIFICATIONS : Infinity;
    if (wanted !== "node") return;
    this.#node = loadNodeCrypto();
    if (this.#node === undefined) {
      throw new TypeError(
        'Cannot use backend "node": this platform has no node:crypto',
      );
    }
  }

  /** What is chosen now, without counting. */
  get node(): NodeCrypto | undefined {
    return this.#node;
  }

  /** What the next verification is done with; undefined means WebCrypto. */
  next(): NodeCrypto | undefined {
    if (this.#node !== undefined) return this.#node;
    if (this.#webLeft > 0) {
      this.#webLeft--;
      return undefined;
    }
    this.#webLeft = Infinity;
    this.#node = loadNodeCrypto();
    return this.#node;
  }
}

type Load = (name: string) => unknown;

function loader(): Load | undefined {
  const { process } = globalThis as {
    readonly process?: { readonly getBuiltinModule?: Load };
  };
  return process?.getBuiltinModule;
}

/** Whether this runtime has any: Deno, Node.js and Bun do, browsers don't. */
export function hasBuiltins(): boolean {
  return loader() !== undefined;
}

/**
 * A built-in module of Deno and Node.js; undefined where it is missing, as in
 * browsers and most workers. By a call instead of an import: browsers can bundle
 * what calls it, and a program that does not get there does not pay for loading
 * (30 to 60 ms for `node:crypto` in Deno).
 *
 * @example
 * ```ts
 * import { loadBuiltin } from "@sig/jose/internal";
 * import { assert } from "@std/assert";
 *
 * const net = loadBuiltin("node:net") as { isIP(text: string): number };
 * assert(net.isIP("::1") === 6);
 * ```
 */
export function loadBuiltin(name: `node:${string}`): unknown {
  try {
    return loader()?.(name);
  } catch {
    // Some workers have the function and refuse the name.
    return undefined;
  }
}
