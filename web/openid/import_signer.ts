/** Private keys as what they do: signatures. @module */

import { loadBuiltin } from "@sig/jose";
import { importJWK, type JWK } from "jose";

/** What ID tokens can be signed with. */
export type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

/** Makes the signature of these bytes. */
export type Sign = (
  input: Uint8Array<ArrayBuffer>,
) => Promise<Uint8Array> | Uint8Array;

/** As much of `node:crypto` as is used here. */
interface NodeCrypto {
  createPrivateKey(
    input: { readonly key: JWK; readonly format: "jwk" },
  ): unknown;
  sign(digest: null, input: Uint8Array, key: unknown): Uint8Array;
}

/** How WebCrypto calls them; the digest of RSA belongs to the key. */
const WEB_ALGORITHMS = {
  RS256: { name: "RSASSA-PKCS1-v1_5" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
  EdDSA: { name: "Ed25519" },
} as const;

/**
 * Imports a private key once, for all its signatures. Those of RSA and ECDSA
 * take about the same everywhere; an Ed25519 key is derived anew by WebCrypto in
 * Deno for each signature, which takes five times as long as the signature: there
 * `node:crypto`, where there is one, keeps it.
 *
 * @returns undefined for what is no private key.
 * @throws whatever the platform says of it, which may quote the key.
 */
export async function importSigner(
  jwk: JWK,
  alg: SigningAlgorithm,
): Promise<Sign | undefined> {
  const key = await importJWK(jwk, alg);
  if (key instanceof Uint8Array || key.type !== "private") return undefined;
  if (alg === "EdDSA") {
    const node = loadBuiltin("node:crypto") as NodeCrypto | undefined;
    const held = node?.createPrivateKey({ key: jwk, format: "jwk" });
    if (node !== undefined) return (input) => node.sign(null, input, held);
  }
  return async (input) =>
    new Uint8Array(await crypto.subtle.sign(WEB_ALGORITHMS[alg], key, input));
}
