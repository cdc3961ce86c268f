/** Reads a saved plan, and compares it with the feed. @module */

import { REASON_CODES, type ReasonCode, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  isMove,
  movedFields,
  type PlannedChange,
  withReadmission,
  withStart,
} from "./planned_change.ts";
import type { Plan, UnlistedPerson } from "./plan_changes.ts";
import {
  changedMembers,
  PLANNED_MEMBERS,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import { PeopleHistory } from "./people_history.ts";
import type { PublishedRelationship, PublishedState } from "./published.ts";

const ACTIONS = ["create", "update", "reactivate", "revoke"];

/**
 * Reads a saved plan for the current feed. What it says of readmissions and
 * starts is derived again.
 *
 * @param now The time of the append.
 * @returns the plan, without changes if the feed already agrees.
 * @throws {SigError} `invalid_request` for anything but a plan,
 * `issuer_mismatch` for a plan of another issuer, `plan_outdated` if the feed
 * has new events or a relationship differs from the plan's `before`.
 */
export function readPlan(
  value: unknown,
  state: PublishedState,
  now?: Date,
): Plan {
  const plan = requirePlan(value);
  const history = new PeopleHistory(state, now);
  if (plan.issuer !== state.issuer) {
    throw new SigError("issuer_mismatch", {
      action: "apply plan",
      reason: "it was made for another issuer",
      context: { expected: state.issuer },
    });
  }
  const { last_sequence, feed_sha256 } = state;
  if (plan.changes.every((change) => isDone(change, state, history))) {
    const based_on = { last_sequence, feed_sha256 };
    const nothing = { changes: [], unchanged: 0, unmanaged: 0, unlisted: [] };
    return { ...plan, based_on, ...nothing };
  }
  if (
    plan.based_on.last_sequence !== last_sequence ||
    plan.based_on.feed_sha256 !== feed_sha256
  ) {
    throw outdated(
      `the feed ends at sequence ${last_sequence}, the plan was made at ${plan.based_on.last_sequence}`,
    );
  }
  for (const change of plan.changes) {
    if (isAsPlanned(change, state)) continue;
    throw outdated(
      "it says something else of a relationship than the feed does",
    );
  }
  const changes = plan.changes.map((each) => {
    const { action, after, fills_gap, relationship_id } = each;
    if (after === null) return each;
    const published = action === "update" && !isMove(each)
      ? state.relationships.get(relationship_id ?? "")
      : undefined;
    const retroactive = fills_gap !== undefined;
    const { fills_gap: _, ...change } = { ...each, after };
    const begun = withStart(change, published, history, { now, retroactive });
    return withReadmission(begun, history);
  });
  return { ...plan, changes };
}

function outdated(why: string): SigError {
  return new SigError("plan_outdated", {
    action: "apply plan",
    reason: why,
    context: { hint: "Make the plan again, and look at it again." },
  });
}

function requirePlan(value: unknown): Plan {
  const isPlan = isObject(value) && typeof value.issuer === "string" &&
    isObject(value.based_on) &&
    Number.isSafeInteger(value.based_on.last_sequence) &&
    typeof value.based_on.feed_sha256 === "string" &&
    Array.isArray(value.changes) && value.changes.every(isChange);
  if (isPlan) return recomputedPlan(value as unknown as Plan);
  throw new SigError("invalid_request", {
    action: "apply plan",
    reason: "the file is not a plan as `sig plan --out` writes it",
  });
}

/**
 * Returns the plan with its summary recomputed: what the operator confirms must
 * derive from the members that will be appended.
 */
function recomputedPlan(plan: Plan): Plan {
  const count = (value: unknown) =>
    typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
  return {
    issuer: plan.issuer,
    based_on: plan.based_on,
    changes: plan.changes.map((
      {
        action,
        relationship_id,
        subject,
        before,
        after,
        fields = [],
        row,
        reason_code,
        fills_gap,
      },
    ) => ({
      action,
      relationship_id,
      subject,
      before,
      after,
      fields: before !== null && after !== null && isMove({ fields })
        ? movedFields(before, after)
        : plannedFields(before, after),
      row: typeof row === "number" ? row : null,
      ...(reason_code === "superseded" ? { reason_code } : {}),
      ...(isObject(fills_gap) ? { fills_gap } : {}),
    })),
    unchanged: count(plan.unchanged),
    unmanaged: count(plan.unmanaged),
    ...(isReasonCode(plan.reason_code)
      ? { reason_code: plan.reason_code }
      : {}),
    waiting: [],
    unlisted: (Array.isArray(plan.unlisted) ? plan.unlisted : [])
      .filter(isUnlisted),
  };
}

function isUnlisted(value: unknown): value is UnlistedPerson {
  return isObject(value) && typeof value.subject === "string" &&
    Array.isArray(value.roles) &&
    [value.person, value.name].every((each) =>
      each === null || typeof each === "string"
    );
}

function isReasonCode(value: unknown): value is ReasonCode {
  return REASON_CODES.some((each) => each === value);
}

function isChange(value: unknown): boolean {
  if (!isObject(value) || typeof value.subject !== "string") return false;
  const { action, relationship_id: id, before, after, fields } = value;
  const isCreation = action === "create";
  return ACTIONS.some((each) => each === action) &&
    (fields === undefined || Array.isArray(fields)) &&
    (action === "update" || !fields?.includes("type")) &&
    (typeof id === "string" || (id === null && isCreation)) &&
    (isCreation ? before === null : areMembers(before)) &&
    (action === "revoke" ? after === null : areMembers(after));
}

/** The append validates their values. */
function areMembers(value: unknown): boolean {
  return isObject(value) && Array.isArray(value.roles) &&
    value.roles.every((role) => typeof role === "string") &&
    Object.keys(value).length === PLANNED_MEMBERS.length &&
    PLANNED_MEMBERS.every((name) => Object.hasOwn(value, name));
}

function isDone(
  change: PlannedChange,
  { relationships }: PublishedState,
  history: PeopleHistory,
): boolean {
  const { action, relationship_id: id, subject, after } = change;
  const isEnded = id !== null && relationships.get(id)?.status === "revoked";
  if (action === "revoke") return isEnded;
  if (isMove(change) && !isEnded) return false;
  const candidates = id === null || isMove(change)
    ? [...relationships.values()]
    : [relationships.get(id)];
  return candidates.some((each) =>
    each?.status === "active" && each.upsert.subject === subject &&
    after !== null &&
    saysSame(each, withStart({ ...change, after }, each, history, {}).after)
  );
}

function isAsPlanned(
  { action, relationship_id: id, subject, before }: PlannedChange,
  { relationships }: PublishedState,
): boolean {
  const published = id === null ? undefined : relationships.get(id);
  if (before === null || published === undefined) {
    return before === null && published === undefined;
  }
  return published.upsert.subject === subject && saysSame(published, before) &&
    published.status === (action === "reactivate" ? "revoked" : "active");
}

function saysSame(
  { upsert }: PublishedRelationship,
  members: PlannedMembers | null,
): boolean {
  if (members === null) return false;
  const wanted = { ...members, roles: [...new Set(members.roles)].sort() };
  return changedMembers(publishedMembers(upsert), wanted).length === 0;
}
