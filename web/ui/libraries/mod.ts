/**
 * What the page's second script takes from the libraries, so that it judges as
 * they do; `login.ts` has what the first one takes. Single
 * files: by way of the `mod.ts` of `@sig/consumer` parts of its network and
 * file readers would come along.
 *
 * @module
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

export {
  check,
  type CheckResult,
  type DenyReason,
  dumpState,
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
  type ExplainedRelationship,
  type FeedState,
  parseJson,
  type Reason,
  RELATIONSHIP_TYPES,
  type RelationshipState,
  replay,
  type Warning,
} from "../../../core/mod.ts";
export {
  answerInvitation,
  type InvitationAnswer,
} from "../../../jose/invitation/answer.ts";
export {
  type InvitationClaims,
  type ParsedInvitation,
} from "../../../jose/invitation/invitation.ts";
export { wellKnownUrls } from "../../../core/event/did_web.ts";
export { parseInvitation } from "../../../jose/invitation/parse_invitation.ts";
export {
  requireUnexpired,
  verifyInvitation,
} from "../../../jose/invitation/verify_invitation.ts";
export { jwkToDidKey } from "../../../jose/keys/did_key.ts";
export { loadIssuer } from "../../../consumer/verify/load_issuer.ts";
export { reportIssuer } from "../../../consumer/verify/verify_report.ts";

export type {
  DocumentReader,
  ReportedFault,
  VerifiedEvent,
  VerifyReport,
} from "../../../consumer/mod.ts";
