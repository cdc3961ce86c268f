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

/** Deviations from a normal line. */
export interface SignOptions {
  /** The signing key, whose kid is in the header (default: KEY_1). */
  readonly key?: TestKey;
  /** The whole header, as an object or its exact bytes. */
  readonly header?: JsonObject | string | Uint8Array;
}

/** Returns a protected header with the given changes. */
export function header(changes: JsonObject = {}): JsonObject {
  return { alg: "EdDSA", kid: KEY_1.kid, typ: "sig-event+jws", ...changes };
}

/** Signs a payload, given as an event or its exact bytes. */
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

/** Returns the result of {@linkcode seal} as a line without its LF. */
export function line(
  payload: JsonObject | string | Uint8Array,
  options: SignOptions = {},
): string {
  return JSON.stringify(seal(payload, options));
}

/** Joins lines to a feed; each line ends in LF. */
export function feed(
  ...lines: readonly (string | Uint8Array)[]
): Uint8Array<ArrayBuffer> {
  return concat(...lines.flatMap((each) => [each, "\n"]));
}

/** Pads a line with JSON white space to a length in bytes. */
export function padded(text: string, bytes: number): string {
  return `{${" ".repeat(bytes - toBytes(text).length)}${text.slice(1)}`;
}
