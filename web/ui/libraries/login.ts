/**
 * What the page's first script takes from the libraries: single files, so that
 * whoever signs in does not wait for those that verify feeds.
 *
 * @module
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

export { isSigError, SigError } from "../../../core/errors/error.ts";
export {
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from "../../../core/errors/error_codes.ts";
export { escapeInvisible } from "../../../core/text/escape_invisible.ts";
export { decodeBase64UrlStrict } from "../../../core/text/bytes.ts";
export { validateSignableChallenge } from "../../../jose/attestation/challenge.ts";
export { attest, clockOf, signingKeyOf } from "../../browser/attest.ts";
export { hasEd25519 } from "../../browser/ed25519_support.ts";
export {
  type BrowserKey,
  createKey,
  findKeys,
  forgetKey,
  type FoundKeys,
  keepKey,
  loadKeys,
  type Missing,
} from "../../browser/key_store.ts";
