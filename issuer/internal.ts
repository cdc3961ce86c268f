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
export { changeRelationship } from "./plan/plan_drafts.ts";
export { keysIn } from "./plan/list_rows.ts";
export { PersonIndex, type Start } from "./plan/person_index.ts";
export { endedNamesake } from "./plan/namesakes.ts";
export { doubtsAboutPlan } from "./plan/plan_doubts.ts";
export { joinPeople } from "./plan/published.ts";
export { readPlan } from "./plan/read_plan.ts";
