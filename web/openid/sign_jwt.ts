/** Signing tokens (RFC 7515 §3.1, RFC 7519). @module */

import { encodeBase64Url } from "@sig/jose";
import type { Sign, SigningAlgorithm } from "./import_signer.ts";

/** What a token is called in its header. */
export type TokenType = "JWT" | "logout+jwt";

/**
 * Signs claims as they are: they are our own, so nothing of them is copied or
 * judged again.
 */
export async function signJwt(
  { kid, sign }: { readonly kid: string; readonly sign: Sign },
  { alg, typ }: { readonly alg: SigningAlgorithm; readonly typ: TokenType },
  claims: { readonly [name: string]: unknown },
): Promise<string> {
  const input = `${part({ alg, typ, kid })}.${part(claims)}`;
  const signature = await sign(encoder.encode(input));
  return `${input}.${encodeBase64Url(signature)}`;
}

const encoder = new TextEncoder();

function part(value: object): string {
  return encodeBase64Url(encoder.encode(JSON.stringify(value)));
}
