/** A plan for people to read. @module */

import type { Plan, PlannedChange, PlannedMembers } from "@sig/issuer";
import type { Call } from "../command_line/command.ts";
import { colour, safe } from "../command_line/output.ts";
import type { Names } from "./names.ts";

const MARKS = Object.freeze(
  {
    create: ["+", "green", "add"],
    update: ["~", "yellow", "change"],
    reactivate: ["+", "yellow", "re-activate"],
    revoke: ["-", "red", "end"],
  } as const,
);

/** Writes what would change, field by field, with people's names if known. */
export function writePlan(
  call: Call,
  plan: Plan,
  names: Names = new Map(),
): void {
  const { io } = call;
  for (const change of plan.changes) writeChange(call, change, names);
  if (plan.changes.length > 0) io.stdout("\n");
  io.stdout(`${summary(plan)}\n`);
}

/** One line: how many of what. */
export function summary({ changes, unchanged, unmanaged }: Plan): string {
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
  call: Call,
  change: PlannedChange,
  names: Names,
): void {
  const { io } = call;
  const { action, relationship_id: id, subject, before, after, row } = change;
  const [mark, paint, verb] = MARKS[action];
  const type = (after ?? before)?.relationship_type ?? "";
  const place = row === null ? "" : `  (row ${row})`;
  const which = id === null ? "" : `  ${safe(id)}`;
  const head = colour(io, "stdout", paint, `${mark} ${verb}`);
  const name = names.has(subject) ? `${safe(names.get(subject)!)}  ` : "";
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
    io.stdout(`    ${label("roles")} ${shown(before.roles)}\n`);
  }
  for (const name of change.fields) {
    if (name === "relationship_type" && before === null) continue;
    const now = after === null ? "" : shown(after[name]);
    io.stdout(
      before === null
        ? `    ${label(name)} ${now}\n`
        : `    ${label(name)} ${shown(before[name])} → ${now}\n`,
    );
  }
}

const WIDEST = "relationship_type".length;

function label(name: keyof PlannedMembers): string {
  return name.padEnd(WIDEST);
}

function shown(value: PlannedMembers[keyof PlannedMembers]): string {
  if (value === null) return "none";
  if (typeof value === "string") return safe(value);
  if (Array.isArray(value)) return value.map(safe).join(", ") || "none";
  return safe(JSON.stringify(value));
}
