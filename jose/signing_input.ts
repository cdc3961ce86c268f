/** What a JWS signs (RFC 7515 §5.1). @module */

/** The two signed parts, in base64url. */
export interface SignedParts {
  /** base64url of the protected header. */
  readonly protected: string;
  /** base64url of the payload. */
  readonly payload: string;
}

const encoder = new TextEncoder();
const DOT = 0x2e;

/**
 * ASCII(protected "." payload), written into the buffer given, or into a new
 * one when it does not fit.
 *
 * @throws {TypeError} when a part is not ASCII: base64url comes first.
 */
export function encodeSigningInput(
  parts: SignedParts,
  buffer?: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  const length = parts.protected.length + 1 + parts.payload.length;
  const into = buffer !== undefined && buffer.length >= length
    ? buffer
    : new Uint8Array(length);
  const head = encoder.encodeInto(parts.protected, into).written;
  into[head] = DOT;
  const tail = encoder.encodeInto(parts.payload, into.subarray(head + 1));
  // Other characters take more bytes: something would have been cut off.
  if (
    head !== parts.protected.length || tail.written !== parts.payload.length
  ) {
    throw new TypeError("Cannot encode signing input: it must be ASCII");
  }
  return into.subarray(0, length);
}
