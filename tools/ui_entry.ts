/**
 * What the embedded page of sig-web takes from the libraries; `bundle_ui.ts`
 * makes `web/ui/verify.js` of it. Imports single files: by way of the consumer's
 * `mod.ts` parts of its network and file readers would come along.
 *
 * @module
 */

export {
  check,
  type CheckResult,
  type DenyReason,
  dumpState,
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
  escapeInvisible,
  type ExplainedRelationship,
  type FeedState,
  isSigError,
  parseJson,
  type Reason,
  RELATIONSHIP_TYPES,
  type RelationshipState,
  replay,
  SigError,
  type Warning,
} from "../core/mod.ts";
export { decodeBase64UrlStrict } from "../core/text/base64url.ts";
export { validateSignableChallenge } from "../jose/attestation/challenge.ts";
export { jwkToDidKey } from "../jose/keys/did_key.ts";
export { signAttestation } from "../jose/attestation/sign_attestation.ts";
export { reportIssuer } from "../consumer/verify/report_issuer.ts";

export type {
  DocumentReader,
  ReportedFault,
  VerifiedEvent,
  VerifyReport,
} from "../consumer/mod.ts";
