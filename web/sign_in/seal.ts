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
  readonly now: () => Date;
}

/** A sealed value with its expiry in milliseconds since 1970. */
type Sealed<T> = T & { readonly expires_ms: number };

/**
 * Seals a value as a text: its JSON, with an expiry, and an HMAC. The value is
 * authenticated but not encrypted. It is valid for this issuer only, since
 * another login may use the same keys.
 *
 * @param purpose The purpose; a text that is sealed for one purpose is invalid
 * for others.
 */
export function seal<T extends object>(
  { keys, issuer, now }: Sealer,
  purpose: string,
  value: T,
  lifeMs: number,
): string {
  const sealed: Sealed<T> = { ...value, expires_ms: now().getTime() + lifeMs };
  const payload = encodeBase64Url(encoder.encode(JSON.stringify(sealed)));
  const [mac] = keys.macsOf(`${purpose} ${issuer} ${payload}`);
  return `${payload}.${mac}`;
}

/**
 * Reads a sealed value; undefined for a text that has expired, or that this
 * provider did not seal.
 */
export function unseal<T extends object>(
  { keys, issuer, now }: Sealer,
  purpose: string,
  text: string,
): T | undefined {
  const [, payload = "", mac = ""] =
    /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  const macs = keys.macsOf(`${purpose} ${issuer} ${payload}`);
  if (!macs.some((each) => equalInConstantTime(each, mac))) return undefined;
  const sealed: Sealed<T> = JSON.parse(
    new TextDecoder().decode(
      Uint8Array.fromBase64(payload, { alphabet: "base64url" }),
    ),
  );
  return now().getTime() < sealed.expires_ms ? sealed : undefined;
}

const encoder = new TextEncoder();
