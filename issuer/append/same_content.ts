/** Whether two events, or two values, say the same. @module */

import type { SigEvent } from "@sig/core";
import { isObject } from "@sig/core/internal";
import type { DraftMembers } from "./draft.ts";

/** Members of events that may be left out; null says the same (docs/protocol.md §3). */
const OPTIONAL = ["display", "reason", "metadata"];

/**
 * Whether every member that the draft gives is the same in the event. What the
 * draft leaves to the issuer is not compared.
 */
export function hasSameContent(draft: DraftMembers, event: SigEvent): boolean {
  const written = new Map<string, unknown>(Object.entries(event));
  return Object.keys(draft).every((name) => {
    // Not a member of the event, but of the question.
    if (name === "amend") return true;
    const wanted = draft[name];
    if (wanted === null && OPTIONAL.includes(name)) {
      return (written.get(name) ?? null) === null;
    }
    return sameJson(wanted, written.get(name));
  });
}

/** Whether two values are the same JSON; the order of members means nothing. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a === "number" && typeof b === "number") return a === b;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length &&
      a.every((each, index) => sameJson(each, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]));
}
