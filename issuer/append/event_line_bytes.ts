/** The length of an event's line before it is signed. @module */

import { EVENT_TYP, type SigEvent } from "@sig/core";

const SIGNATURE_BYTES = 64;
const FRAME = JSON.stringify({ protected: "", payload: "", signature: "" });
const encoder = new TextEncoder();

/** Bytes of the envelope that `signEvent` makes, without the LF. */
export function eventLineBytes(event: SigEvent, kid: string): number {
  const header = { alg: "EdDSA", kid, typ: EVENT_TYP };
  return FRAME.length + encodedLength(header) + encodedLength(event) +
    base64UrlLength(SIGNATURE_BYTES);
}

function encodedLength(value: unknown): number {
  return base64UrlLength(encoder.encode(JSON.stringify(value)).length);
}

/** Without padding. */
function base64UrlLength(bytes: number): number {
  return Math.ceil(bytes * 4 / 3);
}
