/**
 * Exports of core for the other packages of this project. They are not covered
 * by semantic versioning: they may change in any release.
 *
 * @module
 */
export {
  allowedSeconds,
  nextChangeMs,
  type SecondsRange,
} from "./ask/allowed_seconds.ts";
export type { AnswerLimits } from "./ask/answer.ts";
export { checkSteps, type CheckStepsOptions } from "./ask/check.ts";
export {
  type StatePage,
  type StatePageOptions,
  walkState,
} from "./ask/dump_state.ts";
export {
  type KnownState,
  parseTime,
  resolveTime,
  sequenceOfDigits,
  timeAsAsked,
  Timepoint,
} from "./ask/evaluation_time.ts";
export { withContext } from "./errors/error.ts";
export { claimedSequence, isSequence } from "./event/event.ts";
export {
  Fields,
  isIdentifier,
  isKid,
  isObject,
  isString,
  MAX_KID_LENGTH,
  member,
} from "./event/fields.ts";
export { type Period, validityAt } from "./event/validity.ts";
export type { EvaluationTime } from "./replay/effective_state.ts";
export { Persons } from "./replay/persons.ts";
export { MAX_ANSWER_WARNINGS } from "./replay/replay.ts";
export { decodeBase64UrlStrict, joinBytes, sameBytes } from "./text/bytes.ts";
export { quote } from "./text/escape_invisible.ts";
export { escapePointer } from "./text/json.ts";
export { runInSlices, runSteps, STEP_UNITS, type Steps } from "./text/steps.ts";
export { suggest } from "./text/suggest.ts";
export { validInstant } from "./text/timestamp.ts";
export { trimOws } from "./text/trim_ows.ts";
