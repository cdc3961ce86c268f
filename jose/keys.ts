/**
 * Keys and signed feed lines: `@sig/jose` without attestations and invitations,
 * for programs that only read feeds.
 *
 * @example The key of a did:key
 * ```ts
 * import { didKeyToJwk, jwkToDidKey } from "@sig/jose/keys";
 * import { assertEquals } from "@std/assert";
 *
 * const did = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";
 * assertEquals(jwkToDidKey(didKeyToJwk(did)), did);
 * ```
 *
 * @module
 */
export { signEvent, verifyEnvelope } from "./event/envelope.ts";
export {
  readDidDocument,
  type ReadDidDocumentOptions,
  type VerificationRelationship,
} from "./keys/did_document.ts";
export { didKeyToJwk, jwkToDidKey, resolveDidKey } from "./keys/did_key.ts";
export {
  createKeyResolver,
  type CreateKeyResolverOptions,
  isVoidEvent,
  type KeyResolver,
  resolveCurrent,
} from "./keys/key_resolver.ts";
export {
  importVerificationKey,
  type ImportVerificationKeyOptions,
  type VerificationBackend,
  type VerificationKey,
} from "./keys/verification_key.ts";
export { calculateKid, toPublicJwk } from "./keys/public_key.ts";
export {
  generateSigningKey,
  type GenerateSigningKeyOptions,
  importSigningKey,
  type SigningKey,
} from "./keys/signing_key.ts";
export { isSshKey, jwkToSshKey, sshKeyToJwk } from "./keys/ssh_key.ts";
