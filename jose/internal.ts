/**
 * Exports of jose for the other packages of this project. They are not covered
 * by semantic versioning: they may change in any release.
 *
 * @module
 */
export { encodeBase64Url, equalInConstantTime } from "./bytes/bytes.ts";
export { isStrictSignature } from "./bytes/ed25519_bytes.ts";
export { MAX_STATE_BYTES, Sha256State } from "./bytes/sha256.ts";
export { loadBuiltin } from "./keys/verification_key.ts";
export { calculateKidOf } from "./keys/public_key.ts";
export { PKCS8_PREFIX } from "./keys/signing_key.ts";
