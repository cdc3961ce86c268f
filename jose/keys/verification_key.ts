/** Public keys and strict verification (docs/protocol.md §2.5). @module */

import type * as nodeCrypto from "node:crypto";
import { type Jwk, SigError } from "@sig/core";
import { isKid, isObject, member } from "@sig/core/internal";
import { isStrictSignature } from "../bytes/ed25519_bytes.ts";
import {
  invalidKey,
  type PublicKey,
  readKid,
  readPublicKey,
} from "./public_key.ts";

/** An Ed25519 public key that verifies signatures. */
export interface VerificationKey {
  /** The key's identifier, if it has one. */
  readonly kid?: string;
  /** The public JWK: `kty`, `crv`, `x` and the `kid` if there is one. */
  readonly jwk: Jwk;
  /** A copy of the public key (32 bytes). */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /**
   * Returns whether a signature of a message is valid: RFC 8032 without
   * cofactor, S < L, R canonical and not of small order. It returns `false` for
   * any fault, including a wrong length and a failure of the platform, and
   * never throws or rejects. Both arrays may be reused as soon as the call
   * returns.
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
  ): boolean | Promise<boolean>;
}

/** Options of {@linkcode importVerificationKey}. */
export interface ImportVerificationKeyOptions {
  /** The verifier (default: `auto`). */
  readonly backend?: VerificationBackend;
}

/**
 * Imports a public Ed25519 JWK. Platforms also import invalid keys, so the
 * bytes are checked here: 32 bytes in canonical base64url, a canonical encoding
 * of a point on the curve, not of small order. `use`, `alg` and `key_ops` are
 * not checked (see `createKeyResolver`) (docs/protocol.md §2.5).
 *
 * @example
 * ```ts
 * import { importVerificationKey } from "@sig/jose";
 * import { isSigError } from "@sig/core";
 * import { assert, assertEquals, assertRejects } from "@std/assert";
 *
 * const key = await importVerificationKey({
 *   kty: "OKP",
 *   crv: "Ed25519",
 *   x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo", // RFC 8037, A.2
 * });
 * assertEquals(await key.verify(new Uint8Array(64), new Uint8Array(0)), false);
 *
 * // The neutral element: any message could be "signed" for it.
 * const x = "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
 * const error = await assertRejects(() =>
 *   importVerificationKey({ kty: "OKP", crv: "Ed25519", x })
 * );
 * assert(isSigError(error, "invalid_key"));
 * ```
 *
 * @throws {SigError} `invalid_key`; `private_key_in_jwks` if it has a `d`.
 * @throws {TypeError} if backend `node` is requested but not available.
 */
export async function importVerificationKey(
  jwk: unknown,
  options: ImportVerificationKeyOptions = {},
): Promise<VerificationKey> {
  return await importKey(jwk, new BackendChoice(options.backend));
}

/** Imports one key of a set. */
export async function importKey(
  jwk: unknown,
  choice: BackendChoice,
): Promise<VerificationKey> {
  if (isObject(jwk) && Object.hasOwn(jwk, "d")) {
    const kid = member(jwk, "kid");
    throw new SigError("private_key_in_jwks", {
      action: "use key",
      reason: "it has a private member d (expected a public key)",
      context: isKid(kid) ? { kid } : {},
    });
  }
  return await importPublicKey(readPublicKey(jwk), readKid(jwk), choice);
}

/**
 * Imports a public key that has been checked already.
 *
 * @throws {SigError} `invalid_key` where the platform refuses it.
 */
export async function importPublicKey(
  publicKey: PublicKey,
  kid: string | undefined,
  choice: BackendChoice,
): Promise<VerificationKey> {
  const { bytes } = publicKey;
  const web = await crypto.subtle
    .importKey("raw", bytes, "Ed25519", false, ["verify"])
    .catch(() => {
      throw invalidKey("this platform's WebCrypto refuses it", kid);
    });
  return new Ed25519VerificationKey(publicKey, kid, choice, web);
}

class Ed25519VerificationKey implements VerificationKey {
  readonly kid?: string;
  readonly jwk: Jwk;
  readonly #publicKey: PublicKey;
  readonly #choice: BackendChoice;
  readonly #web: CryptoKey;
  /** The key in `node:crypto`; null if it was refused there. */
  #node: nodeCrypto.KeyObject | undefined | null;

  constructor(
    publicKey: PublicKey,
    kid: string | undefined,
    choice: BackendChoice,
    web: CryptoKey,
  ) {
    const named = kid === undefined ? {} : { kid };
    if (kid !== undefined) this.kid = kid;
    this.jwk = Object.freeze(
      { kty: "OKP", crv: "Ed25519", x: publicKey.x, ...named } as const,
    );
    this.#publicKey = publicKey;
    this.#choice = choice;
    this.#web = web;
  }

  get publicKey(): Uint8Array<ArrayBuffer> {
    return this.#publicKey.bytes.slice();
  }

  verify(
    signature: Uint8Array,
    message: Uint8Array,
  ): boolean | Promise<boolean> {
    if (!isStrictSignature(signature)) return false;
    const node = this.#choice.next();
    const key = node && this.#nodeKey(node);
    if (!node || !key) return this.#verifyWeb(signature, message);
    try {
      return node.verify(null, message, key, signature) === true;
    } catch {
      return false;
    }
  }

  #nodeKey(node: NodeCrypto): nodeCrypto.KeyObject | null {
    if (this.#node !== undefined) return this.#node;
    try {
      const key = { kty: "OKP", crv: "Ed25519", x: this.jwk.x } as const;
      return this.#node = node.createPublicKey({ key, format: "jwk" });
    } catch {
      return this.#node = null;
    }
  }

  async #verifyWeb(
    signature: Uint8Array,
    message: Uint8Array,
  ): Promise<boolean> {
    // Copies, because the caller may change its arrays during the verification.
    const copies = [signature.slice(), message.slice()] as const;
    try {
      return await crypto.subtle.verify("Ed25519", this.#web, ...copies);
    } catch {
      return false;
    }
  }
}

type NodeCrypto = typeof nodeCrypto;

/**
 * The verifier of signatures. `web`: WebCrypto, asynchronous, available
 * immediately on every platform. `node`: `node:crypto`, synchronous and about
 * 1.5 times as fast, but takes 30 to 60 ms to load in Deno. `auto`: WebCrypto
 * first, then `node:crypto` (if available) after 256 signatures. All accept the
 * same signatures.
 */
export type VerificationBackend = "auto" | "node" | "web";

/**
 * The number of verifications by WebCrypto before `auto` loads `node:crypto`:
 * small compared to a whole feed, and large enough for a short question.
 */
export const WEB_VERIFICATIONS = 256;

/** The backend for all keys of a set; counts their verifications. */
export class BackendChoice {
  #node: NodeCrypto | undefined;
  #webLeft: number;

  /** @throws {TypeError} if `node` is requested but not available. */
  constructor(wanted: VerificationBackend = "auto") {
    this.#webLeft = wanted === "auto" ? WEB_VERIFICATIONS : Infinity;
    if (wanted !== "node") return;
    this.#node = loadBuiltin("node:crypto") as NodeCrypto | undefined;
    if (this.#node === undefined) {
      throw new TypeError(
        'Cannot use backend "node": this platform has no node:crypto',
      );
    }
  }

  /** Returns the next verification's backend; undefined means WebCrypto. */
  next(): NodeCrypto | undefined {
    if (this.#node !== undefined) return this.#node;
    if (this.#webLeft > 0) {
      this.#webLeft--;
      return undefined;
    }
    this.#webLeft = Infinity;
    this.#node = loadBuiltin("node:crypto") as NodeCrypto | undefined;
    return this.#node;
  }
}

/**
 * Loads a built-in module of Deno or Node.js; returns undefined where it is
 * missing, as in browsers and most workers. Unlike an import, this call can be
 * bundled for browsers, and modules are loaded only when needed (30 to 60 ms
 * for `node:crypto` in Deno).
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
  const { process } = globalThis as {
    readonly process?: { getBuiltinModule?(name: string): unknown };
  };
  try {
    return process?.getBuiltinModule?.(name);
  } catch {
    // Some workers have the function but reject the name.
    return undefined;
  }
}
