/** Changes of relationships as text: before → after. @module */

import type { People } from "@sig/issuer/people";
import type { Plan, PlannedChange, PlannedField } from "@sig/issuer";
import { colour, type Output, safe } from "./write.ts";

/** Returns the names of the members that differ, without `leftOut`. */
export function differingFields<M extends object>(
  before: M,
  after: M,
  leftOut: readonly (keyof M & string)[] = [],
): readonly (keyof M & string)[] {
  const names = new Set(
    [before, after].flatMap((each) =>
      Object.keys(each) as (keyof M & string)[]
    ),
  );
  for (const name of leftOut) names.delete(name);
  return [...names].filter((name) =>
    JSON.stringify(before[name]) !== JSON.stringify(after[name])
  );
}

/** Returns a text such as `roles deploy → deploy, refund` for each field. */
export function describeFields<M extends object>(
  before: M,
  after: M,
  fields: readonly (keyof M & string)[],
): readonly string[] {
  return fields.map((name) =>
    `${name} ${describeValue(before[name])} → ${describeValue(after[name])}`
  );
}

/** Returns a member's value as text. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) return "none";
  if (value instanceof Array) return value.join(", ") || "none";
  return typeof value === "object" ? JSON.stringify(value) : `${value}`;
}

const MARKS = Object.freeze(
  {
    create: ["+", "green", "add"],
    update: ["~", "yellow", "change"],
    reactivate: ["+", "yellow", "re-activate"],
    revoke: ["-", "red", "end"],
  } as const,
);

/**
 * Writes the changes of a plan, field by field, with display names if known.
 */
export function writePlan(
  call: Output,
  plan: Plan,
  people: People | undefined,
): void {
  const { io } = call;
  for (const change of plan.changes) writeChange(call, change, people);
  if (plan.changes.length > 0) io.stdout("\n");
  io.stdout(`${summary(plan)}\n`);
}

/** Returns the counts of a plan's changes as one line. */
function summary({ changes, unchanged, unmanaged }: Plan): string {
  const count = (action: PlannedChange["action"]) =>
    changes.filter((each) => each.action === action).length;
  const words = (Object.keys(MARKS) as PlannedChange["action"][])
    .filter((action) => count(action) > 0)
    .map((action) => `${count(action)} to ${MARKS[action][2]}`);
  const what = words.length === 0 ? "Nothing to do" : words.join(", ");
  const rest = unmanaged === 0 ? "" : `, ${unmanaged} not in the list`;
  return `${what}; ${unchanged} as they are${rest}.`;
}

/** Writes one change, field by field. */
export function writeChange(
  call: Output,
  change: PlannedChange,
  people: People | undefined,
): void {
  const { io } = call;
  const { action, relationship_id: id, subject, before, after, row } = change;
  const [mark, paint, verb] = MARKS[action];
  const type = (after ?? before)?.relationship_type ?? "";
  const place = row === null ? "" : `  (row ${row})`;
  const which = id === null ? "" : `  ${safe(id)}`;
  const head = colour(io, "stdout", paint, `${mark} ${verb}`);
  const known = people?.named(subject).name;
  const name = known ? `${safe(known)}  ` : "";
  io.stdout(
    `${head}  ${name}${safe(subject)}  ${safe(type)}${which}${place}\n`,
  );
  const { readmits } = change;
  if (readmits !== undefined) {
    const { effective_at, reason_code, relationship_id, sequence } = readmits;
    io.stdout(
      `    ${"was revoked".padEnd(WIDEST)} ${
        safe(effective_at)
      }, ${reason_code} (${
        safe(relationship_id)
      }, seq=${sequence}); needs --readmit\n`,
    );
  }
  if (before !== null && after === null) {
    io.stdout(`    ${label("roles")} ${safe(describeValue(before.roles))}\n`);
  }
  for (const field of change.fields) {
    const name = field === "type" ? "relationship_type" : field;
    if (name === "relationship_type" && before === null) continue;
    const now = after === null ? "" : safe(describeValue(after[name]));
    io.stdout(
      before === null
        ? `    ${label(field)} ${now}\n`
        : `    ${label(field)} ${safe(describeValue(before[name]))} → ${now}\n`,
    );
  }
}

const WIDEST = "relationship_type".length;

function label(name: PlannedField): string {
  return name.padEnd(WIDEST);
}
