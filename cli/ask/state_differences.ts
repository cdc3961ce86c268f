/** What two states say differently. @module */

import type { RelationshipState, StateDump } from "@sig/core";

/** One relationship that is not the same on both sides. */
export interface Difference {
  readonly relationship_id: string;
  readonly subject: string;
  /** On the second side only, on the first only, or on both but unequal. */
  readonly kind: "added" | "removed" | "changed";
  /** Members that differ, in the order of a state. */
  readonly fields: readonly string[];
  readonly before: RelationshipState | null;
  readonly after: RelationshipState | null;
}

/** Every difference, by relationship_id; empty when both say the same. */
export function findDifferences(
  a: StateDump,
  b: StateDump,
): readonly Difference[] {
  const [before, after] = [a.by_relationship_id, b.by_relationship_id];
  const ids = [...new Set([...before.keys(), ...after.keys()])].sort();
  return ids.flatMap((id): readonly Difference[] => {
    const [was, is] = [before.get(id) ?? null, after.get(id) ?? null];
    const fields = was && is ? differingFields(was, is) : [];
    if (was && is && fields.length === 0) return [];
    return [{
      relationship_id: id,
      subject: (is ?? was)!.subject,
      kind: was === null ? "added" : is === null ? "removed" : "changed",
      fields,
      before: was,
      after: is,
    }];
  });
}

/** Without the issuer, which is compared once for all. */
function differingFields(
  a: RelationshipState,
  b: RelationshipState,
): readonly string[] {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  names.delete("issuer");
  const value = (state: RelationshipState, name: string) =>
    JSON.stringify(state[name as keyof RelationshipState]);
  return [...names].filter((name) => value(a, name) !== value(b, name));
}
