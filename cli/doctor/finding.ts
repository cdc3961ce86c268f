/** Findings of `sig doctor`: tables of rules. @module */

import { firstOf } from "../output/write.ts";

/** The severity of a finding. */
type Severity = "error" | "warning" | "info";

/** A finding, as it is printed (docs/reference/findings.md). */
export interface Finding {
  /** The kind of finding, stable across versions. */
  readonly code: string;
  /**
   * `error`: answers are wrong or missing. `warning`: this may happen. `info`:
   * a possible improvement.
   */
  readonly severity: Severity;
  /** Description of the problem. */
  readonly what: string;
  /** Consequence of the problem. */
  readonly why: string;
  /** How to fix it. */
  readonly mend: string;
  /** The affected document, file, key or event. */
  readonly where: string;
}

/** A place; or a description with a place and, if it has its own, a fix. */
export type Found =
  | string
  | readonly [what: string, where: string, mend?: string];

/** A kind of finding. It examines data that was already read, without I/O. */
export interface FindingRow<X> {
  readonly severity: Severity;
  /**
   * Condition of the finding, for the reference; also its default description.
   */
  readonly when: string;
  readonly why: string;
  readonly mend: string;
  find(examined: X): readonly Found[];
}

/** Returns a function that makes the rows of a severity. */
const rowOf = (severity: Severity) =>
<X>(
  when: string,
  why: string,
  mend: string,
  find: (examined: X) => readonly Found[],
): FindingRow<X> => ({ severity, when, why, mend, find });

/** A row of severity `error`: when, why, how to fix it, and where it occurs. */
export const error = rowOf("error");
/** A row of severity `warning`. */
export const warning = rowOf("warning");
/** A row of severity `info`. */
export const info = rowOf("info");

/** Rows by code. */
export interface FindingTable<X> {
  readonly [code: string]: FindingRow<X>;
}

/** Returns the findings of a table, in its order. */
export function judge<X>(
  table: FindingTable<X>,
  examined: X,
): readonly Finding[] {
  return Object.entries(table).flatMap(([code, row]) =>
    row.find(examined).map((found) => {
      const [what, where, mend = row.mend] = typeof found === "string"
        ? [plain(row.when), found]
        : found;
      return { code, severity: row.severity, what, why: row.why, mend, where };
    })
  );
}

/** Converts a text of the reference to a message. */
function plain(text: string): string {
  const [first = "", ...rest] = text.replaceAll("`", "");
  // Acronyms and header names keep their case.
  const isWord = /^[A-Z][a-z]* /.test(text);
  return [isWord ? first.toLowerCase() : first, ...rest].join("");
}

/** `event 1, 2, 3, 4, 5 and 7 more` */
export function places(
  what: string,
  all: readonly (string | number)[],
): string {
  return all.length === 0 ? "documents" : `${what} ${firstOf(all)}`;
}
