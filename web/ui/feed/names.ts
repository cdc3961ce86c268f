/** What an issuer calls its people. @module */

import type { VerifiedEvent } from "../libraries/mod.ts";
import { isRecord } from "../parts/text.ts";

/** The name in an event's `display`: its label, else its title; "" for none. */
export function nameIn(event: VerifiedEvent["event"]): string {
  const display = "display" in event ? event.display : undefined;
  if (!isRecord(display)) return "";
  for (const name of [display.label, display.title]) {
    if (typeof name === "string" && name !== "") return name;
  }
  return "";
}

/** By relationship: revokes bear no name, and the last one counts. */
export function namesIn(
  events: readonly VerifiedEvent[],
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { event } of events) {
    const name = nameIn(event);
    if (name !== "") names.set(event.relationship_id, name);
  }
  return names;
}

/** A relationship's type as what a person has: "employment". */
export function having(type: string): string {
  return HAVING.get(type) ?? "relationship";
}

/** Only types whose word for it everybody knows. */
const HAVING: ReadonlyMap<string, string> = new Map([
  ["employee", "employment"],
  ["contractor", "contract"],
  ["advisor", "role as advisor"],
  ["founder", "role as founder"],
  ["investor", "role as investor"],
  ["admin_delegate", "role as administrator"],
]);

/** A relationship's type as what a person is: "employee". */
export function being(type: string): string {
  return type.replaceAll("_", " ");
}
