/** Seals values that travel with the browser. @module */

import { encodeBase64Url, equalInConstantTime } from "@sig/jose/internal";

/** Authenticates texts. */
export interface SealingKeys {
  /**
   * Returns the HMACs of a text in base64url, one for each sealing key. The
   * first key seals.
   */
  macsOf(text: string): readonly string[];
}

/** The keys of a seal, and the issuer identifier that it is valid for. */
interface Sealer {
  readonly keys: SealingKeys;
  readonly issuer: string;
}

/**
 * Seals a value as a text: its JSON and an HMAC. The value is authenticated but
 * not encrypted. It is valid for this issuer only, since another login may use
 * the same keys.
 *
 * @param purpose The purpose; a text that is sealed for one purpose is invalid
 * for others.
 */
export function seal(
  { keys, issuer }: Sealer,
  purpose: string,
  value: unknown,
): string {
  const payload = encodeBase64Url(encoder.encode(JSON.stringify(value)));
  const [mac] = keys.macsOf(`${purpose} ${issuer} ${payload}`);
  return `${payload}.${mac}`;
}

/**
 * Reads a sealed value; undefined for a text that this provider did not seal.
 */
export function unseal<T>(
  { keys, issuer }: Sealer,
  purpose: string,
  text: string,
): T | undefined {
  const [, payload = "", mac = ""] =
    /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  const macs = keys.macsOf(`${purpose} ${issuer} ${payload}`);
  if (!macs.some((each) => equalInConstantTime(each, mac))) return undefined;
  return JSON.parse(
    new TextDecoder().decode(
      Uint8Array.fromBase64(payload, { alphabet: "base64url" }),
    ),
  );
}

const encoder = new TextEncoder();
