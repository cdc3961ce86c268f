/** Attestations with any header and claims, for tests of parsers. */

import type { SigningKey } from "@sig/jose";
import { jwkToDidKey } from "@sig/jose";
import { encodeBase64Url } from "@std/encoding/base64url";

/** The current time of the tests. */
export const NOW = new Date("2026-01-31T09:00:00Z");
/** {@linkcode NOW} in seconds. */
export const NOW_SECONDS = NOW.getTime() / 1000;

/** A challenge that is valid at {@linkcode NOW}. */
export const CHALLENGE = {
  challenge_id: "challenge-1",
  audience: "https://shop.example",
  nonce: "6nGp0b1ZcVnH3mT9yQ2rWw",
  scopes: ["email", "profile"],
  issued_at: "2026-01-31T09:00:00Z",
  expires_at: "2026-01-31T09:05:00Z",
};

/** Returns the did:key URL of a key. */
export function kidOf(key: SigningKey): string {
  const did = jwkToDidKey(key.publicJwk);
  return `${did}#${did.slice("did:key:".length)}`;
}

/** Returns the header of a valid attestation. */
export function headerOf(key: SigningKey): Record<string, unknown> {
  return { alg: "EdDSA", typ: "sig-attestation+jwt", kid: kidOf(key) };
}

/** Returns the claims of a valid attestation. */
export function claimsOf(key: SigningKey): Record<string, unknown> {
  const did = jwkToDidKey(key.publicJwk);
  return {
    iss: did,
    sub: did,
    aud: CHALLENGE.audience,
    nonce: CHALLENGE.nonce,
    jti: CHALLENGE.challenge_id,
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 300,
    scope: "email",
  };
}

/** Signs two texts, JSON or not, as a compact JWS. */
export async function tokenOf(
  key: SigningKey,
  header: string | object,
  claims: string | object,
): Promise<string> {
  const text = (part: string | object) =>
    encodeBase64Url(typeof part === "string" ? part : JSON.stringify(part));
  const input = `${text(header)}.${text(claims)}`;
  const signature = await key.sign(new TextEncoder().encode(input));
  return `${input}.${encodeBase64Url(signature)}`;
}
