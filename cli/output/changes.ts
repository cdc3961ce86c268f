/** Changes of relationships as text: before → after. @module */

import { listFirst, type People } from "@sig/issuer/people";
import type { Plan, PlannedChange } from "@sig/issuer";
import { throughDay } from "./fields.ts";
import { shortDid } from "./table.ts";
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
 * Writes the changes of a plan by person, field by field, with display names if
 * known.
 */
export function writePlan(
  call: Output,
  plan: Plan,
  people: People,
): void {
  const { io } = call;
  const byPerson = Map.groupBy(
    plan.changes,
    ({ subject }) => people.keyOf(subject),
  );
  for (const change of [...byPerson.values()].flat()) {
    writeChange(call, change, people, plan.reason_code);
  }
  if (plan.changes.length > 0) io.stdout("\n");
  io.stdout(`${summary(plan)}\n${remarksOn(plan)}`);
}

/** Maximum number of people that a remark names. */
const MOST_NAMED = 10;

/**
 * Returns who waits for a key, and who is not in the list and keeps access, as
 * lines.
 */
export function remarksOn({ unlisted, waiting }: Plan): string {
  const listed = (all: readonly string[]) =>
    listFirst(all.map(safe), MOST_NAMED);
  const waits = waiting.map(({ name, person, row }) =>
    `${name ?? person}${row === null ? "" : ` (row ${row})`}`
  );
  const keep = unlisted.map(({ name, person, roles, subject }) =>
    `${name ?? person ?? subject} (${roles.join(", ") || "no roles"})`
  );
  return (waits.length === 0 ? "" : `Waits for a key: ${listed(waits)}.\n`) +
    (keep.length === 0
      ? ""
      : `Not in the list, and they keep their access: ${
        listed(keep)
      }; end it with --prune.\n`);
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

/** Writes changes without a summary. */
export function writeChanges(
  call: Output,
  changes: readonly PlannedChange[],
  people: People,
): void {
  for (const each of changes) writeChange(call, each, people);
}

/** Writes one change, field by field. */
function writeChange(
  call: Output,
  change: PlannedChange,
  people: People,
  reasonCode?: string,
): void {
  const { io } = call;
  const { action, relationship_id: id, subject, before, after, row } = change;
  const [mark, paint, verb] = MARKS[action];
  const type = (after ?? before)?.relationship_type ?? "";
  const place = row === null ? "" : `  (row ${row})`;
  const which = id === null ? "" : `  ${safe(id)}`;
  const head = colour(io, "stdout", paint, `${mark} ${verb}`);
  const known = people.named(subject).name;
  const name = known ? `${safe(known)}  ` : "";
  io.stdout(
    `${head}  ${name}${safe(known ? shortDid(subject) : subject)}  ${
      safe(type)
    }${which}${place}\n`,
  );
  const line = (name: string, text: string) =>
    io.stdout(`    ${name.padEnd(WIDEST)} ${safe(text)}\n`);
  const { readmits } = change;
  if (readmits !== undefined) {
    const { effective_at, reason_code, relationship_id, sequence } = readmits;
    line(
      "was revoked",
      `${effective_at}, ${reason_code} (${relationship_id}, seq=${sequence}); needs --readmit`,
    );
  }
  if (before !== null && after === null) {
    line("roles", describeValue(before.roles));
    const code = change.reason_code ?? reasonCode;
    if (code !== undefined) line("reason_code", code);
  }
  for (const field of change.fields) {
    const name = field === "type" ? "relationship_type" : field;
    if (name === "relationship_type" && before === null) continue;
    const [was, is] = describePair(name, before?.[name], after?.[name]);
    line(field, before === null ? `${is}` : `${was} → ${is}`);
  }
  const { fills_gap, listed_from } = change;
  if (listed_from !== undefined) {
    line(
      "begins",
      `when it is appended, not ${listed_from ?? "without a start"}${
        change.readmits ? ": --retroactive keeps the date of the list" : ""
      }`,
    );
  }
  if (fills_gap !== undefined) {
    line("fills the gap", `from ${fills_gap.from} until ${fills_gap.until}`);
  }
}

/** Quotes roles if one of them looks like several. */
function describePair(
  name: string,
  before: unknown,
  after: unknown,
): readonly string[] {
  const isRepaired = name === "roles" &&
    [before, after].flat().some((role) =>
      typeof role === "string" && /[,;\s]/.test(role)
    );
  return [before, after].map((value) => {
    if (isRepaired && Array.isArray(value) && value.length > 0) {
      return value.map((role) => JSON.stringify(role)).join(" ");
    }
    const isEnd = name === "valid_until" && typeof value === "string";
    return describeValue(value) + (isEnd ? throughDay(value) : "");
  });
}

const WIDEST = "relationship_type".length;
