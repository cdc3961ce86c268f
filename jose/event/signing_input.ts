/** What a JWS signs (RFC 7515 §5.1). @module */

/** The two signed parts, in base64url. */
export interface SignedParts {
  /** base64url of the protected header. */
  readonly protected: string;
  /** base64url of the payload. */
  readonly payload: string;
}

const encoder = new TextEncoder();

/** The bytes of `<protected>.<payload>`; base64url makes them ASCII. */
export function encodeSigningInput(
  parts: SignedParts,
): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${parts.protected}.${parts.payload}`);
}
