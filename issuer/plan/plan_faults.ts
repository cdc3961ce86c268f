/** Faults of lists: all are found before any is reported. @module */

import { isSigError, type Issue, SigError } from "@sig/core";
import { quote } from "@sig/core/internal";
import { MAX_FAULTS } from "../people/csv.ts";
import type { PublishedRelationship } from "./published.ts";

/** Why a row is refused. */
export interface RowFault {
  /** Row number as in a spreadsheet; null if the list has no rows. */
  readonly row: number | null;
  /** The fault, with its column in the context. */
  readonly error: SigError;
}

export function invalid(column: string, why: string, hint?: string): SigError {
  return new SigError("invalid_field", {
    action: "plan",
    reason: why,
    context: { column, ...(hint !== undefined && { hint }) },
  });
}

export function ambiguous(
  why: string,
  hint: string,
  ids: readonly string[] = [],
  action = "plan",
): SigError {
  return new SigError("ambiguous_relationship", {
    action,
    reason: why,
    context: {
      column: "relationship_id",
      ...(ids.length > 0 && { relationship_ids: ids.slice(0, 20) }),
      hint,
    },
  });
}

/** Both ways on where a relationship is named and another key has several. */
export function severalOfOtherKey(
  action: string,
  id: string,
  others: readonly PublishedRelationship[],
): SigError {
  const ids = others.map(({ upsert }) => upsert.relationship_id);
  return ambiguous(
    `${quote(id)} is one relationship of a person whose key ${
      quote(others[0]!.upsert.subject)
    } has ${ids.length} of this type: ${ids.slice(0, 5).map(quote).join(", ")}`,
    `To change it alone, use sig upsert --relationship-id ${id}. To change the person, name all of these relationships in a list (column relationship_id).`,
    ids,
    action,
  );
}

/** A fault of a list, with its row and column. */
export interface RowIssue extends Issue {
  /** Row number as in a spreadsheet; null if the list has no rows. */
  readonly row: number | null;
  /** The column, or member. */
  readonly column: string;
}

/** Runs the work for a row; an error of it is a fault of the row. */
export function collectFault(
  faults: RowFault[],
  { row = null }: { readonly row?: number | null | undefined },
  work: () => void,
): void {
  try {
    work();
  } catch (error) {
    if (!isSigError(error)) throw error;
    faults.push({ row, error });
  }
}

export function throwFaults(unsorted: readonly RowFault[]): void {
  const faults = unsorted.toSorted((a, b) => (a.row ?? 0) - (b.row ?? 0));
  const [first] = faults;
  if (first === undefined) return;
  const { error: { code, context, reason }, row } = first;
  throw new SigError(code, {
    action: "plan",
    reason: row === null ? reason : `row ${row}: ${reason}`,
    context: {
      ...context,
      ...(row !== null && { row }),
      ...(faults.length > 1 && {
        errors: faults.slice(0, MAX_FAULTS).map(issueOf),
      }),
    },
  });
}

function issueOf(
  { row, error: { code, context, reason } }: RowFault,
): RowIssue {
  const { column: name } = context;
  const column = typeof name === "string" ? name : "subject";
  const pointer = `/${row ?? ""}/${column}`;
  return { pointer, row, column, code, detail: reason };
}
