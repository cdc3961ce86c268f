/** The signing keys of the provider. @module */

import { SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import { nodeCrypto } from "../store/digest.ts";
import type { SealingKeys } from "../sign_in/seal.ts";
import {
  base64url,
  calculateJwkThumbprint,
  compactVerify,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  SignJWT,
} from "jose";

/** A signing algorithm of ID tokens. */
export type SigningAlgorithm = "RS256" | "ES256" | "EdDSA";

/** All supported algorithms; every client supports RS256. */
export const SIGNING_ALGORITHMS: readonly SigningAlgorithm[] = Object.freeze([
  "RS256",
  "ES256",
  "EdDSA",
]);

/** A set of public keys (RFC 7517 §5). */
export interface PublicKeySet {
  /** The keys. */
  readonly keys: readonly { readonly [member: string]: unknown }[];
}

/**
 * The keys of a provider. Sealing keys are derived from the private keys and
 * rotate with them.
 */
export interface ProviderKeys extends SealingKeys {
  /** The public keys to publish, including old ones. */
  readonly jwks: PublicKeySet;
  /** Signs claims as a JWT; `typ` is the type of the token. */
  sign(header: {
    readonly alg: SigningAlgorithm;
    readonly typ: "JWT" | "logout+jwt";
  }, claims: { readonly [name: string]: unknown }): Promise<string>;
}

/**
 * Generates a key for each algorithm and returns the text of a file,
 * `{"keys":[…]}` with private keys. The text is secret.
 *
 * @example
 * ```ts
 * import { generateProviderKeys, readProviderKeys } from "@sig/web/openid";
 * import { assertEquals } from "@std/assert";
 *
 * const keys = await readProviderKeys(await generateProviderKeys());
 * assertEquals(keys.jwks.keys.map(({ alg }) => alg), ["RS256", "ES256",
 * "EdDSA"]);
 * ```
 */
export async function generateProviderKeys(): Promise<string> {
  const keys = await Promise.all(SIGNING_ALGORITHMS.map(async (alg) => {
    const { privateKey } = await generateKeyPair(alg, { extractable: true });
    return { ...await exportJWK(privateKey), alg };
  }));
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}

const PUBLIC_MEMBERS = ["kty", "crv", "x", "y", "n", "e"] as const;

/**
 * Reads a text from {@linkcode generateProviderKeys}. The first key of each
 * algorithm signs; later keys are published too, so that their signatures can
 * still be verified. To rotate, insert a new key before the old one.
 *
 * @throws {SigError} `invalid_key`, without any part of the text.
 */
export async function readProviderKeys(text: string): Promise<ProviderKeys> {
  const signers = new Map<string, ProviderKeys["sign"]>();
  const published: Record<string, unknown>[] = [];
  const seals: ArrayBuffer[] = [];
  const node = nodeCrypto();
  for (const [i, jwk] of parseKeys(text).entries()) {
    const alg = SIGNING_ALGORITHMS.find((each) => each === jwk.alg);
    if (alg === undefined) {
      throw unusable(i, `its alg must be ${SIGNING_ALGORITHMS.join(", ")}`);
    }
    const publicJwk: Record<string, unknown> = Object.fromEntries(
      PUBLIC_MEMBERS.flatMap((name) =>
        jwk[name] === undefined ? [] : [[name, jwk[name]]]
      ),
    );
    let kid, key;
    try {
      kid = await calculateJwkThumbprint(publicJwk);
      key = await importJWK(jwk, alg, { extractable: false });
    } catch {
      // Omits the cause, which may quote the key.
      throw unusable(i, `it is not a key for ${alg}`);
    }
    if (key instanceof Uint8Array || key.type !== "private") {
      throw unusable(i, "it is not a private key");
    }
    published.push({ ...publicJwk, kid, alg, use: "sig" });
    const sign: ProviderKeys["sign"] = (header, claims) =>
      new SignJWT(claims).setProtectedHeader({ ...header, kid }).sign(key);
    await requirePair(i, alg, sign, publicJwk);
    if (!signers.has(alg)) signers.set(alg, sign);
    if (alg === "EdDSA") {
      // A separate key (RFC 5869), so that the private key only signs JWTs.
      const secret = base64url.decode(jwk.d ?? "");
      seals.push(node.hkdfSync("sha256", secret, "", "sig-web seal", 32));
    }
  }
  for (const alg of SIGNING_ALGORITHMS) {
    if (!signers.has(alg)) throw unusable(undefined, `there is no ${alg} key`);
  }
  return {
    jwks: { keys: published },
    sign: (header, claims) => signers.get(header.alg)!(header, claims),
    macsOf: (text) =>
      seals.map((key) =>
        node.createHmac("sha256", new Uint8Array(key)).update(text)
          .digest("base64url")
      ),
  };
}

/**
 * Rejects a key that can't sign or whose public part does not match. Otherwise
 * applications would reject its tokens at the first login.
 */
async function requirePair(
  at: number,
  alg: SigningAlgorithm,
  sign: ProviderKeys["sign"],
  publicJwk: JWK,
): Promise<void> {
  try {
    const signed = await sign({ alg, typ: "JWT" }, {});
    await compactVerify(signed, await importJWK(publicJwk, alg));
  } catch {
    throw unusable(
      at,
      `it can't sign by ${alg}: too short, or its halves are not of one pair`,
    );
  }
}

function parseKeys(text: string): readonly JWK[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable(undefined, "the file is not JSON");
  }
  if (
    isObject(value) && Array.isArray(value.keys) && value.keys.every(isObject)
  ) return value.keys as readonly JWK[];
  throw unusable(undefined, 'the file must be {"keys":[…]}');
}

function unusable(at: number | undefined, why: string): SigError {
  return new SigError("invalid_key", {
    action: "use keys of the OpenID Provider",
    reason: `${at === undefined ? "" : `/keys/${at}: `}${why}`,
    context: {
      flag: "--oidc-keys",
      hint: "The first start with an unused path creates keys.",
    },
  });
}

/**
 * Converts a key set to the type of `npm:jose`, which validates the members.
 */
export function toJose({ keys }: PublicKeySet): JSONWebKeySet {
  return { keys: keys as readonly JWK[] as JWK[] };
}
