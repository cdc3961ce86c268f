/** Signing an event (docs/protocol.md §2). @module */

import { EVENT_TYP, type FlattenedJws, type SigEvent } from "@sig/core";
import { signJws } from "./sign_jws.ts";
import type { SigningKey } from "../keys/signing_key.ts";

/**
 * Signs an event: the header is exactly `{"alg":"EdDSA","kid":…,"typ":
 * "sig-event+jws"}`, the payload is the event as `JSON.stringify` spells it.
 * The same event and key give the same bytes, on every platform. The event is
 * not validated here: call core's `validateEvent` first. (docs/protocol.md §2)
 *
 * @example
 * ```ts
 * import { generateSigningKey, importSigningKey, signEvent } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const key = await importSigningKey(await generateSigningKey({ kid: "k-1" }));
 * const envelope = await signEvent({ sequence: 1 }, key);
 * assertEquals(
 *   atob(envelope.protected),
 *   '{"alg":"EdDSA","kid":"k-1","typ":"sig-event+jws"}',
 * );
 * assertEquals(atob(envelope.payload), '{"sequence":1}');
 * ```
 *
 * @throws {TypeError} when the event is not an object, or not JSON.
 */
export async function signEvent(
  event: SigEvent | Readonly<Record<string, unknown>>,
  key: SigningKey,
): Promise<FlattenedJws> {
  const payload: string | undefined = JSON.stringify(event);
  if (payload === undefined || !payload.startsWith("{")) {
    throw new TypeError("Cannot sign event: it must be an object");
  }
  const header = { alg: "EdDSA", kid: key.kid, typ: EVENT_TYP };
  return await signJws(header, payload, key);
}
