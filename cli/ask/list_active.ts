/** Who is in a relationship at a time, for `who` and `expiring`. @module */

import {
  dumpState,
  type FeedState,
  type ParsedTime,
  type RelationshipType,
} from "@sig/core";
import type { Call } from "../command_line/command.ts";
import {
  statusColour,
  toSecond,
  writeJson,
  writeTable,
} from "../command_line/output.ts";
import type { Names } from "../people/names.ts";

/** One relationship that is effective (INTERFACES §2b). */
export interface ActiveRelationship {
  readonly subject: string;
  readonly relationship_id: string;
  readonly relationship_type: RelationshipType;
  readonly roles: readonly string[];
  readonly valid_from: string | null;
  readonly valid_until: string | null;
  readonly effective_status: "active";
  readonly last_sequence: number;
}

/** The relationships that are effective at a time, sorted by subject. */
export function listActive(
  state: FeedState,
  time: Partial<ParsedTime>,
  now: Date,
): readonly ActiveRelationship[] {
  const dump = dumpState(state, { ...time, status: "active", now });
  return [...dump.by_relationship_id.values()].map((each) => ({
    subject: each.subject,
    relationship_id: each.relationship_id,
    relationship_type: each.relationship_type,
    roles: each.roles,
    valid_from: each.valid_from,
    valid_until: each.valid_until,
    effective_status: "active" as const,
    last_sequence: each.last_sequence,
  })).sort((a, b) =>
    // By code units, as everything that programs read.
    a.subject < b.subject ? -1 : a.subject > b.subject ? 1 : 0
  );
}

/** Writes them: exactly as JSON, or as a table with people's names. */
export function writeActive(
  call: Call,
  found: readonly ActiveRelationship[],
  names: Names,
): void {
  if (call.format === "json") return writeJson(call.io, found);
  if (found.length === 0) return call.io.stdout("nobody\n");
  writeTable(
    call,
    [
      { title: "name" },
      { title: "subject" },
      { title: "type" },
      { title: "roles" },
      { title: "from" },
      { title: "until" },
      { title: "status", colour: statusColour },
      { title: "relationship" },
    ],
    found.map((each) => [
      names.get(each.subject) ?? "",
      each.subject,
      each.relationship_type,
      each.roles.join(", "),
      toSecond(each.valid_from),
      toSecond(each.valid_until),
      each.effective_status,
      each.relationship_id,
    ]),
  );
}
