/**
 * What the other packages of this project use of issuer besides its public API.
 * Not covered by semantic versioning: it may change in any release.
 *
 * @module
 */
export { AGENT_LOCK_TIMEOUT_MS } from "./append/feed_session.ts";
export { relationshipToShare } from "./enrolment.ts";
export { isReferenced } from "./keys/key_store.ts";
export { revocationOf } from "./plan/planned_change.ts";
export { severalOfOtherKey } from "./plan/plan_faults.ts";
export {
  changeRelationship,
  type RelationshipChange,
} from "./plan/plan_drafts.ts";
export { joinPeople, keysIn } from "./plan/list_rows.ts";
export {
  type Admission,
  type Gap,
  PeopleHistory,
  type Start,
  type StartOptions,
} from "./plan/people_history.ts";
export { endedNamesake } from "./plan/guards.ts";
export { activeOfPerson, historyOf, withPeople } from "./plan/published.ts";
export { readPlan } from "./plan/read_plan.ts";
