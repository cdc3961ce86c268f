/** A public key, and strict verification with it (docs/protocol.md §2.5). @module */

import { type Jwk, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  BackendChoice,
  type NodeCrypto,
  type NodeKey,
  type VerificationBackend,
} from "./platform.ts";
import { isStrictSignature } from "../bytes/ed25519_bytes.ts";
import { isKid, member } from "../bytes/json_object.ts";
import {
  invalidKey,
  type PublicKey,
  readKid,
  readPublicKey,
} from "./public_key.ts";

/** An Ed25519 public key that signatures can be verified with. */
export interface VerificationKey {
  /** The key's identifier, when it has one. */
  readonly kid?: string;
  /** `kty`, `crv`, `x` and, when it has one, `kid`. */
  readonly jwk: Jwk;
  /** A copy of the 32 bytes of the public key. */
  readonly publicKey: Uint8Array<ArrayBuffer>;
  /**
   * Whether these 64 bytes are the signature of that message: RFC 8032 without
   * cofactor, S < L, R canonical and not of small order. Whatever is wrong, a
   * signature of another length and a failure of the platform included, the
   * answer is `false`; it never throws or rejects. Both arrays may be reused
   * as soon as the call returns.
   */
  verify(
    signature: Uint8Array,
    message: Uint8Array,
  ): boolean | Promise<boolean>;
}

/** Options of {@linkcode importVerificationKey}. */
export interface ImportVerificationKeyOptions {
  /** Default: `auto`. */
  readonly backend?: VerificationBackend;
}

/**
 * Imports a public Ed25519 JWK. An import without error proves nothing on any
 * platform, so the bytes are checked here: 32 of them in canonical base64url, a
 * canonical encoding of a point on the curve, not of small order. `use`, `alg`
 * and `key_ops` are the business of a key set (see `createKeyResolver`).
 * (docs/protocol.md §2.5)
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
 * @throws {SigError} `invalid_key`; `private_key_in_jwks` when there is a `d`.
 * @throws {TypeError} when backend `node` is requested and the platform has none.
 */
export async function importVerificationKey(
  jwk: unknown,
  options: ImportVerificationKeyOptions = {},
): Promise<VerificationKey> {
  return await importKey(jwk, new BackendChoice(options.backend));
}

/** {@linkcode importVerificationKey} for one key of a set. */
export async function importKey(
  jwk: unknown,
  choice: BackendChoice,
): Promise<VerificationKey> {
  if (isObject(jwk) && Object.hasOwn(jwk, "d")) {
    const kid = member(jwk, "kid");
    throw new SigError(
      "private_key_in_jwks",
      "Cannot use key: it has a private member d (expected a public key)",
      { context: isKid(kid) ? { kid } : {} },
    );
  }
  return await importPublicKey(readPublicKey(jwk), readKid(jwk), choice);
}

/**
 * {@linkcode importVerificationKey} for bytes that were judged already.
 *
 * @throws {SigError} `invalid_key` where the platform refuses them.
 */
export async function importPublicKey(
  publicKey: PublicKey,
  kid: string | undefined,
  choice: BackendChoice,
): Promise<VerificationKey> {
  const node = choice.node;
  const imported = node === undefined
    ? { web: await importWeb(publicKey, kid) }
    : { node: importNode(node, publicKey, kid) };
  return new Ed25519VerificationKey(publicKey, kid, choice, imported);
}

async function importWeb(
  { bytes }: PublicKey,
  kid: string | undefined,
): Promise<CryptoKey> {
  try {
    return await crypto.subtle.importKey("raw", bytes, "Ed25519", false, [
      "verify",
    ]);
  } catch {
    throw invalidKey("this platform's WebCrypto refuses it", kid);
  }
}

function importNode(
  node: NodeCrypto,
  { x }: PublicKey,
  kid: string | undefined,
): NodeKey {
  try {
    const key = { kty: "OKP", crv: "Ed25519", x } as const;
    return node.createPublicKey({ key, format: "jwk" });
  } catch {
    throw invalidKey("this platform's node:crypto refuses it", kid);
  }
}

/** What a key was imported into when it was made. */
type Imported = { readonly web: CryptoKey } | { readonly node: NodeKey };

class Ed25519VerificationKey implements VerificationKey {
  readonly kid?: string;
  readonly jwk: Jwk;
  readonly #publicKey: PublicKey;
  readonly #choice: BackendChoice;
  readonly #web: CryptoKey | undefined;
  /** Null once `node:crypto` has refused the key: WebCrypto stays. */
  #node: NodeKey | undefined | null;

  constructor(
    publicKey: PublicKey,
    kid: string | undefined,
    choice: BackendChoice,
    imported: Imported,
  ) {
    const named = kid === undefined ? {} : { kid };
    if (kid !== undefined) this.kid = kid;
    this.jwk = Object.freeze(
      { kty: "OKP", crv: "Ed25519", x: publicKey.x, ...named } as const,
    );
    this.#publicKey = publicKey;
    this.#choice = choice;
    this.#web = "web" in imported ? imported.web : undefined;
    this.#node = "node" in imported ? imported.node : undefined;
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
    const key = node === undefined ? undefined : this.#nodeKey(node);
    if (node === undefined || key === undefined) {
      return this.#verifyWeb(signature, message);
    }
    try {
      return node.verify(null, message, key, signature) === true;
    } catch {
      return false;
    }
  }

  #nodeKey(node: NodeCrypto): NodeKey | undefined {
    if (this.#node === undefined) {
      try {
        this.#node = importNode(node, this.#publicKey, this.kid);
      } catch {
        this.#node = null;
      }
    }
    return this.#node ?? undefined;
  }

  async #verifyWeb(
    signature: Uint8Array,
    message: Uint8Array,
  ): Promise<boolean> {
    if (this.#web === undefined) return false;
    // The copies are what was judged and what was given, whatever the caller
    // does with its arrays meanwhile.
    const copies = [signature.slice(), message.slice()] as const;
    try {
      return await crypto.subtle.verify("Ed25519", this.#web, ...copies);
    } catch {
      return false;
    }
  }
}
