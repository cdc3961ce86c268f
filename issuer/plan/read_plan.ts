/** Reads a saved plan, and compares it with the feed. @module */

import { REASON_CODES, SigError } from "@sig/core";
import { isObject } from "@sig/core/internal";
import {
  isMove,
  PLANNED_MEMBERS,
  plannedFields,
  type PlannedMembers,
  publishedMembers,
} from "./members.ts";
import { PersonIndex } from "./person_index.ts";
import type { Plan, UnlistedPerson } from "./plan_changes.ts";
import { begin, type PlannedChange } from "./planned_change.ts";
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
  const index = new PersonIndex(state, now);
  const { issuer, last_sequence, feed_sha256 } = state;
  if (plan.issuer !== issuer) {
    throw new SigError("issuer_mismatch", {
      action: "apply plan",
      reason: "it was made for another issuer",
      context: { expected: issuer },
    });
  }
  if (plan.changes.every((change) => isDone(change, index))) {
    const based_on = { last_sequence, feed_sha256 };
    const nothing = { changes: [], unchanged: 0, unmanaged: 0, unlisted: [] };
    return { ...plan, based_on, ...nothing };
  }
  const { based_on, changes } = plan;
  if (
    based_on.last_sequence !== last_sequence ||
    based_on.feed_sha256 !== feed_sha256
  ) {
    throw outdated(
      `the feed ends at sequence ${last_sequence}, the plan was made at ${based_on.last_sequence}`,
    );
  }
  if (!changes.every((change) => isAsPlanned(change, state))) {
    throw outdated(
      "it says something else of a relationship than the feed does",
    );
  }
  const begun = changes.map(({ fills_gap, ...change }) => {
    const { action, after, relationship_id } = change;
    if (after === null) return change;
    const published = action === "update" && !isMove(change)
      ? state.relationships.get(relationship_id ?? "")
      : undefined;
    const isRetroactive = fills_gap !== undefined;
    return begin({ ...change, after }, published, index, isRetroactive);
  });
  return { ...plan, changes: begun };
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
    changes: plan.changes.map((each) => {
      const { action, relationship_id, subject, before, after, row } = each;
      const { fields = [], fills_gap, reason_code } = each;
      return {
        action,
        relationship_id,
        subject,
        before,
        after,
        fields: plannedFields(before, after, isMove({ fields })),
        row: typeof row === "number" ? row : null,
        ...(reason_code === "superseded" ? { reason_code } : {}),
        ...(isObject(fills_gap) ? { fills_gap } : {}),
      };
    }),
    unchanged: count(plan.unchanged),
    unmanaged: count(plan.unmanaged),
    reason_code: REASON_CODES.find((each) => each === plan.reason_code),
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

function isDone(change: PlannedChange, index: PersonIndex): boolean {
  const { action, relationship_id: id, subject, after, fills_gap } = change;
  const isRetroactive = fills_gap !== undefined;
  const { relationships } = index.state;
  const isEnded = id !== null && relationships.get(id)?.status === "revoked";
  if (after === null || action === "revoke") return isEnded;
  if (isMove(change) && !isEnded) return false;
  const candidates = id === null || isMove(change)
    ? relationships.values()
    : [relationships.get(id)].values();
  return candidates.some((each) =>
    each?.status === "active" && each.upsert.subject === subject &&
    saysSame(each, {
      ...after,
      valid_from: index.startOf(subject, after, each, isRetroactive).valid_from,
    })
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
  members: PlannedMembers,
): boolean {
  const roles = [...new Set(members.roles)].sort();
  const wanted = { ...members, roles };
  return plannedFields(publishedMembers(upsert), wanted).length === 0;
}
