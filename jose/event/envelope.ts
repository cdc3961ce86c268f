/** Signing and verification of events (docs/protocol.md §2). @module */

import {
  EVENT_TYP,
  type FlattenedJws,
  type ParsedEnvelope,
  SigError,
  type SigEvent,
} from "@sig/core";
import { quote } from "@sig/core/internal";
import { signJws } from "./jws.ts";
import type { SigningKey } from "../keys/signing_key.ts";
import { SIGNATURE_BYTES } from "../bytes/ed25519_bytes.ts";
import type { KeyResolver } from "../keys/key_resolver.ts";
import type { VerificationKey } from "../keys/verification_key.ts";

/**
 * Signs an event. The header is exactly `{"alg":"EdDSA","kid":…,"typ":
 * "sig-event+jws"}`, and the payload is the event as `JSON.stringify`
 * serializes it, so the same event and key give the same bytes on every
 * platform. The event is not validated: call core's `validateEvent` first
 * (docs/protocol.md §2).
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
 * @throws {TypeError} if the event is not an object or can't be serialized.
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

/**
 * Verifies an envelope: key known, key authorised, signature valid. The payload
 * is not parsed; do that afterwards with core's `parseEventPayload`
 * (docs/protocol.md §2.5).
 *
 * Returns the key of the signature. The result is a promise only while the key
 * verifies asynchronously, so that a whole feed does not need an `await` for
 * each event:
 *
 * @example
 * ```ts
 * import {
 *   createKeyResolver,
 *   generateSigningKey,
 *   importSigningKey,
 *   signEvent,
 *   verifyEnvelope,
 * } from "@sig/jose";
 * import { parseFeedLine } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const signer = await importSigningKey(await generateSigningKey());
 * const line = JSON.stringify(await signEvent({ sequence: 1 }, signer));
 *
 * const keys = await createKeyResolver({ keys: [signer.publicJwk] });
 * const signedBy = verifyEnvelope(parseFeedLine(line), keys);
 * const key = signedBy instanceof Promise ? await signedBy : signedBy;
 * assertEquals(key.kid, signer.kid);
 * ```
 *
 * @throws {SigError} `key_not_found`, `key_not_authorized`, and
 * `signature_invalid`, also if the signature does not have 64 bytes;
 * `context.kid` names the key. It is thrown synchronously, or the promise
 * rejects with it.
 */
export function verifyEnvelope(
  parsed: ParsedEnvelope,
  keys: KeyResolver,
): VerificationKey | Promise<VerificationKey> {
  const { header, signature, signingInput } = parsed;
  const key = keys.resolve(header.kid);
  const verdict = key.verify(signature, signingInput);
  if (verdict === true) return key;
  if (verdict === false) throw signatureInvalid(header.kid, signature);
  return verdict.then((verified) => {
    if (verified) return key;
    throw signatureInvalid(header.kid, signature);
  });
}

function signatureInvalid(kid: string, signature: Uint8Array): SigError {
  const why = signature.length === SIGNATURE_BYTES
    ? `it is not a signature of key ${quote(kid)} over these bytes`
    : `it has ${signature.length} bytes (expected ${SIGNATURE_BYTES})`;
  return new SigError("signature_invalid", {
    action: "verify signature",
    reason: why,
    context: { kid },
  });
}
