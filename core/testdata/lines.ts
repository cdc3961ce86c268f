/** Feed lines for the tests of the line parser. @module */

import { encodeBase64Url } from "@std/encoding/base64url";
import { encode } from "../../tests/kit/events.ts";

/** A valid header. */
export const HEADER = { alg: "EdDSA", kid: "k1", typ: "sig-event+jws" };
/** Returns JSON or bytes in base64url. */
export const b64 = (value: unknown) => encodeBase64Url(encode(value));

/** Returns a line with some members replaced. */
export function line(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    protected: b64(HEADER),
    payload: b64({}),
    signature: encodeBase64Url(new Uint8Array(64)),
    ...changes,
  });
}

/** Returns a line with this header. */
export function withHeader(header: unknown): string {
  return line({ protected: b64(header) });
}
