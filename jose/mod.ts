/**
 * Keys and signatures of SIG: strict Ed25519 on every platform, key sets, event
 * envelopes, did:key and login attestations.
 *
 * @example A key, a line that it signed, and who verifies it
 * ```ts
 * import { parseFeedLine } from "@sig/core";
 * import {
 *   createKeyResolver,
 *   generateSigningKey,
 *   importSigningKey,
 *   signEvent,
 *   verifyEnvelope,
 * } from "@sig/jose";
 * import { assertEquals } from "@std/assert";
 *
 * const jwk = await generateSigningKey({ kid: "orgsign-1" });
 * const key = await importSigningKey(jwk);
 * const line = JSON.stringify(await signEvent({ sequence: 1 }, key));
 *
 * const keys = await createKeyResolver({ keys: [key.publicJwk] });
 * const { kid } = await verifyEnvelope(parseFeedLine(line), keys);
 * assertEquals(kid, "orgsign-1");
 * ```
 *
 * @module
 */
export {
  type AttestationChallenge,
  type AttestationClaims,
  type AttestationHeader,
  MAX_ATTESTATION_LENGTH,
  type ParsedAttestation,
  type SignableChallenge,
} from "./attestation.ts";
export type { VerificationBackend } from "./backend.ts";
export {
  describeChallenge,
  type DescribedChallenge,
} from "./challenge_message.ts";
export { equalInConstantTime } from "./constant_time.ts";
export { encodeBase64Url } from "./encode_base64_url.ts";
export { calculateKid } from "./kid.ts";
export { didKeyToJwk, jwkToDidKey } from "./did_key.ts";
export {
  readDidDocument,
  type ReadDidDocumentOptions,
  type VerificationRelationship,
} from "./did_document.ts";
export {
  generateSigningKey,
  type GenerateSigningKeyOptions,
} from "./generate_signing_key.ts";
export {
  createKeyResolver,
  type CreateKeyResolverOptions,
  type KeyResolver,
} from "./key_resolver.ts";
export { parseAttestation } from "./parse_attestation.ts";
export { toPublicJwk } from "./public_jwk.ts";
export { resolveDidKey } from "./resolve_did_key.ts";
export {
  type AttestationPreview,
  previewAttestation,
  signAttestation,
  type SignAttestationOptions,
} from "./sign_attestation.ts";
export { signEvent } from "./sign_event.ts";
export { importSigningKey, type SigningKey } from "./signing_key.ts";
export {
  importVerificationKey,
  type ImportVerificationKeyOptions,
  type VerificationKey,
} from "./verification_key.ts";
export {
  type AttestationKeyResolver,
  verifyAttestation,
  type VerifyAttestationOptions,
  verifyAttestationSignature,
} from "./verify_attestation.ts";
export { verifyEnvelope } from "./verify_envelope.ts";
