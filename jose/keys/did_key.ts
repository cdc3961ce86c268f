/** did:key for Ed25519 (W3C CCG did:key, docs/protocol.md §7). @module */

import { isSigError, type Jwk, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { encodeBase58 } from "@std/encoding/base58";
import { decodeBase58, encodeBase64Url } from "../bytes/bytes.ts";
import {
  findPublicKeyFault,
  invalidKey,
  type PublicKey,
  readPublicKey,
} from "./public_key.ts";
import {
  BackendChoice,
  importPublicKey,
  type ImportVerificationKeyOptions,
  type VerificationKey,
} from "./verification_key.ts";

/** The multicodec `ed25519-pub`, as a varint. */
const MULTICODEC = [0xed, 0x01] as const;

/**
 * Maximum length of a did:key in characters. An Ed25519 one has 56; decoding
 * base58 is quadratic.
 */
const MAX_DID_KEY_LENGTH = 128;

/**
 * Returns the public key in a did:key, without any request. Only the canonical
 * spelling is accepted (docs/protocol.md §7).
 *
 * @example
 * ```ts
 * import { didKeyToJwk } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(
 *   didKeyToJwk("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"),
 *   {
 *     kty: "OKP",
 *     crv: "Ed25519",
 *     x: "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik",
 *   },
 * );
 * ```
 *
 * @throws {SigError} `invalid_identifier` for anything but a did:key (also with
 * a fragment), `unsupported_did_method` for another DID method, `invalid_key`
 * for another type of key or invalid bytes.
 */
export function didKeyToJwk(did: string): Jwk {
  return { kty: "OKP", crv: "Ed25519", x: readDidKey(did).x };
}

/**
 * Returns the public key in a did:key, after all checks of its bytes.
 *
 * @throws {SigError} as {@linkcode didKeyToJwk}.
 */
export function readDidKey(did: string): PublicKey {
  if (/^did:(?!key:)[a-z0-9]+:/.test(did)) {
    throw new SigError(
      "unsupported_did_method",
      { action: `use ${quote(did)}`, reason: "only did:key is supported here" },
    );
  }
  const bytes = decodeDidKey(did);
  if (bytes[0] !== MULTICODEC[0] || bytes[1] !== MULTICODEC[1]) {
    throw invalidKey("the did:key is not an Ed25519 key (expected z6Mk…)");
  }
  const key = bytes.slice(MULTICODEC.length);
  if (key.length !== 32) {
    throw invalidKey(`the did:key has ${key.length} bytes (expected 32)`);
  }
  const fault = findPublicKeyFault(key);
  if (fault !== undefined) throw invalidKey(fault);
  return { x: encodeBase64Url(key), bytes: key };
}

/**
 * Returns the did:key of a public or private Ed25519 JWK.
 *
 * @example
 * ```ts
 * import { didKeyToJwk, jwkToDidKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const did = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * assertEquals(jwkToDidKey(didKeyToJwk(did)), did);
 * ```
 *
 * @throws {SigError} `invalid_key`.
 */
export function jwkToDidKey(jwk: Jwk): string {
  const { bytes } = readPublicKey(jwk);
  return `did:key:z${encodeBase58(Uint8Array.of(...MULTICODEC, ...bytes))}`;
}

/**
 * Decodes a did:key. In base58, each byte string has a single spelling, so that
 * subjects can be compared as texts.
 */
function decodeDidKey(did: string): Uint8Array<ArrayBuffer> {
  const malformed = (why: string) =>
    new SigError("invalid_identifier", {
      action: `use ${quote(did)}`,
      reason: why,
    });
  if (!did.startsWith("did:key:z")) {
    throw malformed("it must be did:key:z… (base58btc)");
  }
  if (did.length > MAX_DID_KEY_LENGTH) {
    throw malformed(`it is longer than ${MAX_DID_KEY_LENGTH} characters`);
  }
  const bytes = decodeBase58(did.slice("did:key:z".length));
  if (bytes !== undefined) return bytes;
  throw malformed("what follows the z must be base58");
}

/**
 * Returns the key that a did:key URL such as `did:key:z6Mk…#z6Mk…` names,
 * without any request. It is the default resolver of `verifyAttestation`; a
 * verifier that also supports did:web can fall back to it. The default backend
 * is `web`, because most keys are used once.
 *
 * @example
 * ```ts
 * import { resolveDidKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const id = "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * const key = await resolveDidKey(`did:key:${id}#${id}`);
 * assertEquals(key.jwk.x, "O2onvM62pC1io6jQKm8Nc2UyFXcd4kOmOsBIoYtZ2ik");
 * ```
 *
 * @throws {SigError} `unsupported_did_method` for another DID method,
 * `invalid_key`, and `invalid_header` for anything but a did:key with its own
 * fragment, because the kid is from a signed header and not a caller's mistake.
 * @throws {TypeError} if backend `node` is requested but not available.
 */
export async function resolveDidKey(
  kid: string,
  options: ImportVerificationKeyOptions = {},
): Promise<VerificationKey> {
  const choice = new BackendChoice(options.backend ?? "web");
  const [did = "", fragment] = kid.split("#", 2);
  const publicKey = readKey(kid, did);
  if (kid === `${did}#${did.slice("did:key:".length)}`) {
    return await importPublicKey(publicKey, kid, choice);
  }
  throw invalidKid(
    kid,
    fragment === undefined
      ? "it has no fragment"
      : "its fragment must repeat the key",
  );
}

function readKey(kid: string, did: string): PublicKey {
  try {
    return readDidKey(did);
  } catch (error) {
    if (!isSigError(error, "invalid_identifier")) throw error;
    throw invalidKid(kid, "it is not a did:key", error);
  }
}

function invalidKid(kid: string, why: string, cause?: unknown): SigError {
  return new SigError("invalid_header", {
    action: `use kid ${quote(kid)}`,
    reason: why,
    ...(cause === undefined ? {} : { cause }),
  });
}
