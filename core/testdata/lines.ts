/** Lines of a feed, as far as the reader of lines looks. @module */

import { encodeBase64Url } from "@std/encoding/base64url";
import { encode } from "../../tests/kit/events.ts";

/** A good header. */
export const HEADER = { alg: "EdDSA", kid: "k1", typ: "sig-event+jws" };
/** JSON, or bytes, as a line has it. */
export const b64 = (value: unknown) => encodeBase64Url(encode(value));

/** A line with these members instead of good ones. */
export function line(changes: Record<string, unknown> = {}): string {
  return JSON.stringify({
    protected: b64(HEADER),
    payload: b64({}),
    signature: encodeBase64Url(new Uint8Array(64)),
    ...changes,
  });
}

/** A line with this header. */
export function withHeader(header: unknown): string {
  return line({ protected: b64(header) });
}

/** The line in another spelling, which only the JSON reader understands. */
export function respell(line: string): string {
  return line.replace(/^\{"protected":"/, '{ "protected":"');
}
