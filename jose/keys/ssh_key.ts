/** Conversion between JWKs and OpenSSH public keys (RFC 8709 §4). @module */

import { type Jwk, SigError } from "@sig/core";
import { joinBytes, sameBytes } from "@sig/core/internal";
import { decodeBase64, encodeBase64, encodeBase64Url } from "../bytes/bytes.ts";
import { findPublicKeyFault, readPublicKey } from "./public_key.ts";

const TYPE = "ssh-ed25519";

/** The strings of RFC 4251 §5: the type, then the length of the 32 bytes. */
const PREFIX = Uint8Array.of(
  ...[0, 0, 0, TYPE.length],
  ...new TextEncoder().encode(TYPE),
  ...[0, 0, 0, 32],
);

/** 51 bytes take 68 base64 characters without padding or unused bits. */
const LINE = /^ssh-ed25519 ([A-Za-z0-9+/]{68})(?: [^\p{Cc}]*)?$/u;

/** The type of an OpenSSH key. */
const KEY_TYPE = /^(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]{1,60}$/;

/**
 * Returns whether a text contains the type of an OpenSSH key, followed by more.
 */
export function isSshKey(text: string): boolean {
  return /(?:^|\s)(?:sk-)?(?:ssh|ecdsa)-[a-z0-9@.-]+\s/.test(text);
}

/**
 * Converts an OpenSSH public key line, `ssh-ed25519 <base64> [comment]`, as in
 * a `.pub` file of `ssh-keygen`, to a JWK. Only the canonical spelling is
 * accepted: one line, no options before the type, no bytes after the 32 of the
 * key.
 *
 * @example
 * ```ts
 * import { jwkToDidKey, sshKeyToJwk } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const line =
 *   "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop alice@laptop\n";
 * assertEquals(
 *   jwkToDidKey(sshKeyToJwk(line)),
 *   "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
 * );
 * ```
 *
 * @throws {SigError} `invalid_identifier` with the reason. It contains nothing
 * of the input except its key type, because the input may be a private key.
 */
export function sshKeyToJwk(line: string): Jwk {
  const text = line.replace(/\r?\n$/, "");
  const base64 = LINE.exec(text)?.[1];
  if (base64 === undefined) throw refused(text);
  const blob = decodeBase64(base64)!;
  if (!sameBytes(blob.subarray(0, PREFIX.length), PREFIX)) {
    throw invalid(`its bytes are not those of an ${TYPE} key`);
  }
  const key = blob.subarray(PREFIX.length);
  const fault = findPublicKeyFault(key);
  if (fault !== undefined) throw invalid(fault);
  return { kty: "OKP", crv: "Ed25519", x: encodeBase64Url(key) };
}

/**
 * Converts a public or private Ed25519 JWK to an OpenSSH public key,
 * `ssh-ed25519 <base64>`.
 *
 * @example
 * ```ts
 * import { didKeyToJwk, jwkToSshKey } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const did = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * assertEquals(
 *   jwkToSshKey(didKeyToJwk(did)),
 *   "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop",
 * );
 * ```
 *
 * @throws {SigError} `invalid_key`.
 */
export function jwkToSshKey(jwk: Jwk): string {
  const blob = joinBytes([PREFIX, readPublicKey(jwk).bytes]);
  return `${TYPE} ${encodeBase64(blob)}`;
}

/** Creates the error of a rejected line, with a hint how to get a valid key. */
function refused(text: string): SigError {
  if (text.includes("PRIVATE KEY-----")) {
    return invalid(
      "it is a private key",
      "Name the public key, the file that ends in .pub.",
    );
  }
  const words = text.split(/\s+/);
  const at = words.findIndex((word) => KEY_TYPE.test(word));
  const type = words[at];
  if (type === undefined) return invalid(`it must begin with ${TYPE}`);
  if (at > 0) return invalid("it has options or other text before its type");
  if (type !== TYPE) return invalid(`its type is ${type}, not ${TYPE}`);
  return invalid(
    `${TYPE} must be followed by one space and the 68 characters of one key`,
    "Copy the one line of the .pub file.",
  );
}

function invalid(
  why: string,
  hint = "This makes a key that can be used: ssh-keygen -t ed25519",
): SigError {
  return new SigError(
    "invalid_identifier",
    { action: "use OpenSSH public key", reason: why, context: { hint } },
  );
}
