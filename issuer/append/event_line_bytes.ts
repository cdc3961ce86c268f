/** The length of an event's line before it is signed. @module */

import { EVENT_TYP } from "@sig/core";

const SIGNATURE_BYTES = 64;
const FRAME = JSON.stringify({ protected: "", payload: "", signature: "" });

/** Bytes of the envelopes that `signEvent` makes, without payload and LF. */
export function envelopeBytes(kid: string): number {
  const header = { alg: "EdDSA", kid, typ: EVENT_TYP };
  return FRAME.length +
    base64UrlLength(new TextEncoder().encode(JSON.stringify(header)).length) +
    base64UrlLength(SIGNATURE_BYTES);
}

/** Characters that encode so many bytes, without padding. */
export function base64UrlLength(bytes: number): number {
  return Math.ceil(bytes * 4 / 3);
}
