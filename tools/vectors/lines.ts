/** Feed lines: events in their signed envelopes. @module */

import { base64url, concat, type JsonObject, toBytes } from "./bytes.ts";
import { KEY_1, type TestKey } from "./keys.ts";

/** The three members of a line. */
export interface Envelope {
  /** base64url of the header. */
  readonly protected: string;
  /** base64url of the event. */
  readonly payload: string;
  /** base64url of the signature. */
  readonly signature: string;
}

/** What differs from an ordinary line. */
export interface SignOptions {
  /** Signs, and gives the header its kid (default: KEY_1). */
  readonly key?: TestKey;
  /** The whole header: an object, or its exact bytes. */
  readonly header?: JsonObject | string | Uint8Array;
}

/** The protected header, with the given changes. */
export function header(changes: JsonObject = {}): JsonObject {
  return { alg: "EdDSA", kid: KEY_1.kid, typ: "sig-event+jws", ...changes };
}

/** Signs a payload: an event, or its exact bytes. */
export function seal(
  payload: JsonObject | string | Uint8Array,
  options: SignOptions = {},
): Envelope {
  const key = options.key ?? KEY_1;
  const parts = {
    protected: base64url(options.header ?? header({ kid: key.kid })),
    payload: base64url(payload),
  };
  const message = toBytes(`${parts.protected}.${parts.payload}`);
  return { ...parts, signature: base64url(key.sign(message)) };
}

/** {@linkcode seal}, as a line without its LF. */
export function line(
  payload: JsonObject | string | Uint8Array,
  options: SignOptions = {},
): string {
  return JSON.stringify(seal(payload, options));
}

/** Lines as a feed: each of them ends in LF. */
export function feed(
  ...lines: readonly (string | Uint8Array)[]
): Uint8Array<ArrayBuffer> {
  return concat(...lines.flatMap((each) => [each, "\n"]));
}

/** A line that JSON white space brings to a length in bytes. */
export function padded(text: string, bytes: number): string {
  return `{${" ".repeat(bytes - toBytes(text).length)}${text.slice(1)}`;
}
