/** Texts that travel with the browser, and that only this provider can make. @module */

import { encodeBase64Url, equalInConstantTime } from "@sig/jose/internal";
import { base64url } from "jose";
import { macsOf, type ProviderKeys } from "./keys.ts";

type SealKeys = Pick<ProviderKeys, "seals">;

/**
 * Makes the text that carries a value: its JSON, and an HMAC of that. It can be
 * read by everybody.
 *
 * @param purpose What it is for: sealed for one purpose it is not for another.
 */
export async function seal(
  keys: SealKeys,
  purpose: string,
  value: unknown,
): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  const payload = encodeBase64Url(bytes);
  const [mac] = await macsOf(keys, `${purpose} ${payload}`);
  return `${payload}.${mac}`;
}

/** Reads it again; undefined for a text that this provider did not make. */
export async function unseal<T>(
  keys: SealKeys,
  purpose: string,
  text: string,
): Promise<T | undefined> {
  const [, payload = "", mac = ""] =
    /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})$/.exec(text) ?? [];
  const macs = await macsOf(keys, `${purpose} ${payload}`);
  if (!macs.some((each) => equalInConstantTime(each, mac))) return undefined;
  return JSON.parse(new TextDecoder().decode(base64url.decode(payload)));
}
