/** Whether an append is a repetition (SECURITY §4, rule 3). @module */

import type { SigEvent } from "@sig/core";
import type { DraftMembers } from "./read_draft.ts";
import { sameJson } from "./same_json.ts";

/** Members of events that may be left out; null says the same (PROTOCOL §3). */
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
