/**
 * SIG v0.1: types, validation, replay and decisions.
 *
 * This package uses no file, socket or clock, and does not verify signatures:
 * `@sig/jose` verifies them, and `@sig/consumer` and `@sig/issuer` combine
 * both.
 *
 * @example Check whether Alice may deploy
 * ```ts
 * import { check, replay } from "@sig/core";
 * import { assertEquals } from "@std/assert";
 *
 * const { state } = replay([{
 *   spec_version: "sig/0.1",
 *   event_id: "01",
 *   event_type: "relationship.upsert",
 *   issuer: "did:web:acme.example",
 *   issued_at: "2026-01-01T00:00:00Z",
 *   sequence: 1,
 *   relationship_id: "alice-1",
 *   subject: "did:web:alice.example",
 *   visibility: "public",
 *   relationship_type: "employee",
 *   status: "active",
 *   roles: ["deploy"],
 *   valid_from: null,
 *   valid_until: null,
 * }]);
 * const answer = check(state, {
 *   subject: "did:web:alice.example",
 *   require: ["relationship=employee", "role=deploy"],
 *   now: new Date("2026-02-01T00:00:00Z"),
 * });
 * assertEquals(answer.decision, "allow");
 * ```
 *
 * @module
 */
export {
  type AnswerProof,
  type CheckAnswer,
  type CheckResult,
  type Continuity,
  DENY_REASONS,
  type DenyReason,
  type ExplainedRelationship,
  type Explanation,
  type Freshness,
  type Reason,
  type SourceKind,
} from "./ask/answer.ts";
export { check } from "./ask/check.ts";
export {
  type DidWeb,
  didWebOf,
  parseDidWeb,
  type ParseDidWebOptions,
  parseIssuerDid,
  WELL_KNOWN_PATHS,
  type WellKnownUrls,
  wellKnownUrls,
} from "./event/did_web.ts";
export {
  dumpState,
  type DumpStateOptions,
  type StateDump,
  stringifyDump,
} from "./ask/dump_state.ts";
export {
  type ErrorContext,
  isSigError,
  type Issue,
  type JsonValue,
  type Problem,
  type Sentence,
  SigError,
  type SigErrorOptions,
  toProblem,
} from "./errors/error.ts";
export {
  ERROR_CATEGORIES,
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
  type ErrorCodeInfo,
} from "./errors/error_codes.ts";
export {
  isRevoke,
  isUpsert,
  parseEventPayload,
  validateEvent,
  type ValidateEventOptions,
} from "./event/event.ts";
export {
  type Accepted,
  FeedRules,
  type PastEvents,
  type PastRelationship,
  type ReplayOptions,
  type RulesStart,
} from "./replay/feed_rules.ts";
export { isDid } from "./event/fields.ts";
export {
  type FeedHistory,
  type RelationshipIds,
  type RelationshipVersion,
} from "./replay/history.ts";
export {
  JsonError,
  type JsonFault,
  parseJson,
  type ParseJsonOptions,
} from "./text/json.ts";
export {
  DEFAULT_LIMITS,
  type Limits,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from "./text/limits.ts";
export {
  createFeedLineParser,
  type FeedLineParser,
  type ParsedEnvelope,
  parseFeedLine,
  type ParseFeedLineOptions,
} from "./event/line.ts";
export { validateMetadata } from "./event/metadata.ts";
export {
  type AskedTime,
  type ParsedTime,
  type Timepoint,
  type TimeQuestion,
} from "./ask/evaluation_time.ts";
export {
  type AskedQuestion,
  type AskedRequirement,
  type AskedRequirements,
  ParsedQuestion,
  parseQuestion,
  parseRequirement,
  parseRequirements,
  type Question,
  type QuestionParts,
  type Requirement,
  REQUIREMENT_KEYS,
  type RequirementKey,
} from "./ask/question.ts";
export { escapeInvisible } from "./text/escape_invisible.ts";
export {
  applyEvent,
  type FeedState,
  personOf,
  Replay,
  replay,
  type ReplayStateOptions,
  warningsAbout,
} from "./replay/replay.ts";
export {
  EFFECTIVE_STATUSES,
  type EffectiveStatus,
} from "./replay/effective_state.ts";
export {
  addSeconds,
  compareInstants,
  formatInstant,
  type Instant,
  instantOf,
  parseTimestamp,
} from "./text/timestamp.ts";
export * from "./event/types.ts";
